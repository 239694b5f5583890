"""Short-time Fourier transforms: torch.stft and torch.istft."""

import torch


def _describe(name, input, window, **values):
    kind = f"torch.{input.type().split('.')[-1]}"
    shown = "None" if window is None else f"torch.{window.type().split('.')[-1]}" + "{" + str(
        list(window.shape)) + "}"
    before = "".join(f", {k}={_shown(v)}" for k, v in list(values.items())[:3])
    after = "".join(f", {k}={_shown(v)}" for k, v in list(values.items())[3:])
    return f"{name}({kind}{list(input.shape)}{before}, window={shown}{after})"


def _shown(value):
    return str(int(value)) if isinstance(value, bool) else str(value)


def _warn_window(what):
    import warnings

    warnings.warn("A window was not provided. A rectangular window will be applied," + what +
                  "To suppress this warning and use a rectangular window, explicitly set "
                  "`window=torch.ones(n_fft, device=<device>)`.", stacklevel=5)


def _full_window(window, n_fft, win_length, like):
    """The window centred in n_fft points; None for ones of full length."""
    if window is None:
        if win_length == n_fft:
            return None
        dtype = like.dtype.to_real() if like.is_complex() else like.dtype
        window = torch.ones(win_length, dtype=dtype, device=like.device)
    if win_length < n_fft:
        left = (n_fft - win_length) // 2
        window = torch.nn.functional.pad(window, (left, n_fft - win_length - left))
    return window


def _check_stft(input, n_fft, hop_length, win_length, window, describe):
    if not (input.is_floating_point() or input.is_complex()):
        raise NotImplementedError(describe() + " : expected a tensor of floating point or complex "
                                  "values")
    if input.dim() not in (1, 2):
        raise RuntimeError(describe() + " : expected a 1D or 2D tensor")
    length = input.size(-1)
    if n_fft <= 0 or n_fft > length:
        raise RuntimeError(describe() + f" : expected 0 < n_fft < {length}, but got n_fft={n_fft}")
    if hop_length <= 0:
        raise RuntimeError(describe() + f" : expected hop_length > 0, but got "
                           f"hop_length={hop_length}")
    if win_length <= 0 or win_length > n_fft:
        raise RuntimeError(describe() + " : expected 0 < win_length <= n_fft, but got "
                           f"win_length={win_length}")
    if window is not None and (window.dim() != 1 or window.size(0) != win_length):
        raise RuntimeError(describe() + " : expected a 1D window tensor of size equal to "
                           f"win_length={win_length}, but got window with size "
                           f"{list(window.shape)}")


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True,
         pad_mode="reflect", normalized=False, onesided=None, return_complex=None):
    """Spectra of windows that move by `hop_length`: (..., frequencies, frames)."""
    if window is None:
        _warn_window("which is known to cause spectral leakage. Other windows such as "
                     "torch.hann_window or torch.hamming_window are recommended to reduce spectral "
                     "leakage.")
    if center:
        side = n_fft // 2
        lead = max(3 - input.dim(), 0)
        padded = input.view((1,) * lead + tuple(input.shape))
        padded = torch.nn.functional.pad(padded, (side, side), pad_mode)
        input = padded.view(padded.shape[lead:])
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if return_complex is None:
        if not (input.is_complex() or window is not None and window.is_complex()):
            raise RuntimeError("stft requires the return_complex parameter be given for real "
                               "inputs, and will further require that return_complex=True in a "
                               "future "
                               "PyTorch release.")
        return_complex = True
    _check_stft(input, n_fft, hop_length, win_length, window, lambda: _describe(
        "stft", input, window, n_fft=n_fft, hop_length=hop_length, win_length=win_length,
        normalized=normalized, onesided=onesided, return_complex=return_complex,
        align_to_window=None))
    frames = input.unsqueeze(0) if input.dim() == 1 else input
    frames = frames.unfold(-1, n_fft, hop_length)
    full = _full_window(window, n_fft, win_length, input)
    if full is not None:
        frames = frames * full
    norm = "ortho" if normalized else None
    one = not frames.is_complex() if onesided is None else onesided
    if one and frames.is_complex():
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    spectrum = torch.fft.rfft(frames, norm=norm) if one else torch.fft.fft(frames, norm=norm)
    spectrum = spectrum.transpose(1, 2)
    if input.dim() == 1:
        spectrum = spectrum.squeeze(0)
    return spectrum if return_complex else torch.view_as_real(spectrum)


def _check_istft(input, n_fft, hop_length, win_length, window, onesided, describe):
    if input.numel() == 0:
        raise RuntimeError(describe() + " input tensor cannot be empty.")
    if input.dim() not in (2, 3):
        raise RuntimeError(describe() + " : expected a tensor with 2 or 3 dimensions, but got "
                           f"{input.dim()}")
    bins = input.size(-2)
    if onesided and bins != n_fft // 2 + 1:
        raise RuntimeError(describe() + " : expected the frequency dimension (3rd to the last) of "
                           "the input tensor to match n_fft / 2 + 1 when onesided=True, but got "
                           f"{bins}")
    if not onesided and bins != n_fft:
        raise RuntimeError(describe() + " : expected the frequency dimension (3rd to the last) of "
                           f"the input tensor to match n_fft when onesided=False, but got {bins}")
    if not 0 < hop_length <= win_length:
        raise RuntimeError(describe() + " : expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(describe() + " : expected 0 < win_length <= n_fft")
    if window is not None and (window.dim() != 1 or window.size(0) != win_length):
        raise RuntimeError(describe() + " : Invalid window shape. window has to be 1D and length "
                           "of `win_length`")


def _overlap_add(frames, hop_length):
    """(batch, frames, n) -> (batch, length): frames added up where they overlap."""
    batch, count, n = frames.shape
    length = n + hop_length * (count - 1)
    at = (torch.arange(count).unsqueeze(1) * hop_length + torch.arange(n)).reshape(-1)
    out = torch.zeros(batch, length, dtype=frames.dtype, device=frames.device)
    return out.index_add(1, at, frames.reshape(batch, -1))


def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True,
          normalized=False, onesided=None, length=None, return_complex=False):
    """The signal of a short-time spectrum, weighted by the squares of the windows."""
    if window is None:
        _warn_window("Please provide the same window used by stft to make the inversion lossless.")
    if not input.is_complex():
        raise TypeError("istft requires a complex-valued input tensor matching the output from "
                        "stft with return_complex=True.")
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if onesided is None:
        half = input.size(-2) != n_fft
    else:
        half = onesided

    def describe():
        return _describe("istft", input, window, n_fft=n_fft, hop_length=hop_length,
                         win_length=win_length, center=center, normalized=normalized,
                         onesided=onesided, length=length, return_complex=return_complex)

    _check_istft(input, n_fft, hop_length, win_length, window, half, describe)
    if return_complex and half:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window.is_complex():
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    spectrum = (input.unsqueeze(0) if input.dim() == 2 else input).transpose(1, 2)
    norm = "ortho" if normalized else None
    if return_complex:
        frames = torch.fft.ifft(spectrum, n_fft, norm=norm)
    else:
        cut = spectrum if half else spectrum[..., :n_fft // 2 + 1]
        frames = torch.fft.irfft(cut, n_fft, norm=norm)
    full = _full_window(window, n_fft, win_length, input)
    if full is None:
        full = torch.ones(n_fft, dtype=frames.real.dtype if return_complex else frames.dtype)
    signal = _overlap_add(frames * full, hop_length)
    weight = _overlap_add((full * full).expand(1, frames.size(1), n_fft), hop_length)
    start = n_fft // 2 if center else 0
    whole = signal.size(1)
    end = start + length if length is not None else whole - (n_fft // 2 if center else 0)
    signal, weight = signal[:, start:min(end, whole)], weight[:, start:min(end, whole)]
    if weight.numel() and not bool((weight.abs().min() > 1e-11)):
        raise RuntimeError(describe() + " window overlap add min: 1")
    signal = signal / weight
    if end > whole:
        import warnings

        warnings.warn("The length of signal is shorter than the length parameter. Result is being "
                      "padded with zeros in the tail. Please check your center and hop_length "
                      "settings.", stacklevel=4)
        signal = torch.nn.functional.pad(signal, (0, end - whole))
    return signal.squeeze(0) if input.dim() == 2 else signal
