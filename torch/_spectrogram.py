"""`torch.stft` and `torch.istft` in terms of framing, windows and FFTs."""

import torch


def _window(input, n_fft, win_length, window):
    """The window, padded with zeros on both sides to `n_fft`."""
    if window is None:
        window = torch.ones(win_length, dtype=input.real.dtype if input.is_complex() else
                            input.dtype, device=input.device)
    if win_length < n_fft:
        left = (n_fft - win_length) // 2
        before = window.new_zeros(left)
        after = window.new_zeros(n_fft - win_length - left)
        window = torch.cat([before, window, after])
    return window


def stft(input, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided,
         return_complex):
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if return_complex is None:
        if not (input.is_complex() or (window is not None and window.is_complex())):
            raise RuntimeError(
                "stft requires the return_complex parameter be given for real inputs, and will "
                "further require that return_complex=True in a future PyTorch release."
            )
        return_complex = True
    flat = input.dim() == 1
    if flat:
        input = input.unsqueeze(0)
    if input.dim() != 2:
        raise RuntimeError(f"stft: expected a 1D or 2D tensor, got {input.dim()}D")
    if center:
        pad = n_fft // 2
        padded = torch.nn.functional.pad(input.unsqueeze(1), (pad, pad), pad_mode)
        input = padded.squeeze(1)
    length = input.size(-1)
    what = "stft(...)"
    if not 0 < n_fft <= length:
        raise RuntimeError(f"{what}: expected 0 < n_fft <= {length}, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise RuntimeError(f"{what}: expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(
            f"{what}: expected 0 < win_length <= n_fft, but got win_length={win_length}"
        )
    if window is not None and (window.dim() != 1 or window.size(0) != win_length):
        raise RuntimeError(
            f"{what}: expected a 1D window tensor of size equal to win_length={win_length}, but "
            f"got window with size {list(window.shape)}"
        )
    win = _window(input, n_fft, win_length, window)
    frames = input.unfold(-1, n_fft, hop_length) * win
    complex_input = frames.is_complex()
    if onesided is None:
        onesided = not complex_input
    if onesided and complex_input:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    norm = "ortho" if normalized else None
    transform = torch.fft.fft if complex_input or not onesided else torch.fft.rfft
    out = transform(frames, dim=-1, norm=norm).transpose(1, 2)
    if flat:
        out = out.squeeze(0)
    return out if return_complex else torch.view_as_real(out)


def istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length,
          return_complex):
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if not input.is_complex():
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    flat = input.dim() == 2
    if flat:
        input = input.unsqueeze(0)
    full = input.size(-2) == n_fft
    if onesided is None:
        onesided = not (return_complex or full)
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if input.size(-2) != wanted:
        raise RuntimeError(
            "istft expects the frequency dimension (3rd to the last) of the input tensor to match "
            f"n_fft{' / 2 + 1 when onesided=True' if onesided else ' when onesided=False'}, but "
            f"got {input.size(-2)}"
        )
    if not 0 < hop_length <= win_length:
        raise RuntimeError("istft(...): expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError("istft(...): expected 0 < win_length <= n_fft")
    frames = input.transpose(1, 2)
    norm = "ortho" if normalized else None
    if return_complex:
        frames = torch.fft.ifft(frames, dim=-1, norm=norm)
    elif onesided:
        frames = torch.fft.irfft(frames, n=n_fft, dim=-1, norm=norm)
    else:
        frames = torch.fft.ifft(frames, dim=-1, norm=norm).real
    win = _window(frames, n_fft, win_length, window)
    signal = _overlap_add(frames * win, hop_length)
    count = frames.size(1)
    envelope = _overlap_add((win * win).expand(1, count, n_fft), hop_length)
    start = n_fft // 2 if center else 0
    total = n_fft + hop_length * (count - 1)
    if length is not None:
        end = start + length
    else:
        end = total - n_fft // 2 if center else total
    end = min(end, total)
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    if float(envelope.abs().min()) <= 1e-11:
        raise RuntimeError("window overlap add min: 1")
    out = signal / envelope
    if length is not None and out.size(1) < length:
        out = torch.nn.functional.pad(out, (0, length - out.size(1)))
    return out.squeeze(0) if flat else out


def _overlap_add(frames, hop):
    """Adds frames (batch, count, n) up where they overlap in time."""
    batch, count, n = frames.shape
    total = n + hop * (count - 1)
    at = torch.arange(n, device=frames.device) + hop * torch.arange(
        count, device=frames.device
    ).unsqueeze(1)
    out = frames.new_zeros(batch, total)
    index = at.reshape(1, -1).expand(batch, -1)
    return out.scatter_add(1, index, frames.reshape(batch, -1))
