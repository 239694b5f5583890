"""`torch.einsum`: parsing the equation, then pairs of operands as batched matrix products."""

import torch

_OUTPUT_ONLY = "einsum(): output subscript {} does not appear in the equation for any input operand"


def _fail(text):
    raise RuntimeError("einsum(): " + text)


def _letter(n):
    if not 0 <= n < 52:
        _fail(f"subscripts in sublist format must be within the range [0, 52), but found {n}")
    return chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)


def _from_sublists(args):
    """The equation of ``einsum(a, [0, 1], b, [1, 2], [0, 2])``."""
    def text(sublist):
        return "".join("..." if s is Ellipsis else _letter(int(s)) for s in sublist)

    equation = ",".join(text(s) for s in args[1::2][: len(args) // 2])
    operands = list(args[: len(args) // 2 * 2 : 2])
    if len(args) % 2:
        equation += "->" + text(args[-1])
    return equation, operands


def _parse_term(text, offset):
    """A term as a list of letters with "..." for the ellipsis."""
    out, i = [], 0
    while i < len(text):
        c = text[i]
        if c == " ":
            i += 1
        elif text.startswith("...", i):
            if "..." in out:
                _fail(f"found '.' for operand {offset[0]} for which an ellipsis was already found")
            out.append("...")
            i += 3
        elif c == ".":
            _fail(f"found '.' for operand {offset[0]} that is not part of any ellipsis")
        elif c.isascii() and c.isalpha():
            out.append(c)
            i += 1
        else:
            _fail(f"invalid subscript given at index {offset[1] + i} in the equation string, "
                  "subscripts must be in [a-zA-Z]")
    return out


def _parse(equation, count):
    left, arrow, right = equation.partition("->")
    terms, at = [], 0
    for k, part in enumerate(left.split(",")):
        terms.append(_parse_term(part, (k, at)))
        at += len(part) + 1
    if len(terms) > count:
        _fail("fewer operands were provided than specified in the equation")
    if len(terms) < count:
        _fail("more operands were provided than specified in the equation")
    return terms, _parse_term(right, (count, at)) if arrow else None


def _spread_ellipsis(terms, operands):
    """Letters for the dimensions under "...": numbers, aligned at the right."""
    longest = 0
    for k, (term, t) in enumerate(zip(terms, operands)):
        named = len(term) - ("..." in term)
        if "..." in term:
            if t.dim() < named:
                _fail(f"the number of subscripts in the equation ({named}) is more than the number "
                      f"of dimensions ({t.dim()}) for operand {k}")
            longest = max(longest, t.dim() - named)
        elif t.dim() != named:
            _fail(f"the number of subscripts in the equation ({named}) does not match the number "
                  f"of dimensions ({t.dim()}) for operand {k} and no ellipsis was given")
    out = []
    for term, t in zip(terms, operands):
        labels = []
        for s in term:
            if s == "...":
                n = t.dim() - len(term) + 1
                labels += list(range(longest - n, longest))
            else:
                labels.append(s)
        out.append(labels)
    return out, list(range(longest))


def _output_labels(output, labels, ellipsis):
    if output is None:
        counts = {}
        for term in labels:
            for s in term:
                if isinstance(s, str):
                    counts[s] = counts.get(s, 0) + 1
        return ellipsis + sorted(s for s, n in counts.items() if n == 1)
    known = {s for term in labels for s in term}
    out = []
    for s in output:
        if s == "...":
            out += ellipsis
            continue
        if s in out:
            _fail(f"output subscript {s} appears more than once in the output")
        if s not in known:
            raise RuntimeError(_OUTPUT_ONLY.format(s))
        out.append(s)
    return out


def _diagonals(t, labels, k):
    """One dimension per label: repeated ones become diagonals."""
    seen = []
    for s in labels:
        if s not in seen:
            seen.append(s)
            continue
        i, j = seen.index(s), len(seen)
        if t.size(i) != t.size(j):
            _fail(f"subscript {s} is repeated for operand {k} but the sizes don't match, "
                  f"{t.size(j)} != {t.size(i)}")
        t = t.diagonal(0, i, j).movedim(-1, i)
    return t, seen


def _check_sizes(operands, labels):
    sizes = {}
    for k, (t, term) in enumerate(zip(operands, labels)):
        for s, n in zip(term, t.shape):
            have = sizes.get(s, 1)
            if n != 1 and have != 1 and n != have:
                name = s if isinstance(s, str) else "..."
                _fail(f"subscript {name} has size {n} for operand {k} which does not broadcast "
                      f"with previously seen size {have}")
            sizes[s] = n if n != 1 else have
    return sizes


def _sum_out(t, labels, keep):
    drop = [i for i, s in enumerate(labels) if s not in keep]
    if drop:
        t = t.sum(drop)
        labels = [s for s in labels if s in keep]
    return t, labels


def _contract(a, la, b, lb, keep):
    """Two operands into one; labels outside of `keep` are summed."""
    a, la = _sum_out(a, la, keep | set(lb))
    b, lb = _sum_out(b, lb, keep | set(la))
    shared = [s for s in la if s in lb]
    # a dimension of one broadcasts: it is no real partner in a product
    thin_a = {s for s in shared if a.size(la.index(s)) == 1}
    thin_b = {s for s in shared if b.size(lb.index(s)) == 1}
    for s in shared:
        if s in keep:
            continue
        if s in thin_a and s not in thin_b:
            b = b.sum(lb.index(s), keepdim=True)
        elif s in thin_b and s not in thin_a:
            a = a.sum(la.index(s), keepdim=True)
    batch = [s for s in shared if s in keep]
    summed = [s for s in shared if s not in keep]
    left, right = [s for s in la if s not in shared], [s for s in lb if s not in shared]
    pa = a.permute([la.index(s) for s in batch + left + summed])
    pb = b.permute([lb.index(s) for s in batch + summed + right])
    sizes = [max(a.size(la.index(s)), b.size(lb.index(s))) if a.size(la.index(s)) != 0 and
             b.size(lb.index(s)) != 0 else 0 for s in batch]
    nb, nl, nr = len(batch), len(left), len(right)
    if not summed:
        pa = pa.reshape(list(pa.shape) + [1] * nr)
        pb = pb.reshape(list(pb.shape[:nb]) + [1] * nl + list(pb.shape[nb:]))
        return pa * pb, batch + left + right
    pa = pa.expand(sizes + list(pa.shape[nb:]))
    pb = pb.expand(sizes + list(pb.shape[nb:]))
    n = [_product(sizes), _product(pa.shape[nb : nb + nl]), _product(pa.shape[nb + nl :]),
         _product(pb.shape[nb + len(summed) :])]
    result = torch.bmm(pa.reshape(n[0], n[1], n[2]), pb.reshape(n[0], n[2], n[3]))
    shape = sizes + list(pa.shape[nb : nb + nl]) + list(pb.shape[nb + len(summed) :])
    return result.reshape(shape), batch + left + right


def _product(values):
    n = 1
    for v in values:
        n *= v
    return n


def einsum(*args):
    """See `torch.einsum`."""
    if not args:
        _fail("must provide at least one operand")
    if isinstance(args[0], str):
        equation, operands = args[0], list(args[1:])
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = list(operands[0])
    else:
        equation, operands = _from_sublists(args)
    if not operands:
        _fail("must provide at least one operand")
    terms, output = _parse(equation, len(operands))
    labels, ellipsis = _spread_ellipsis(terms, operands)
    out = _output_labels(output, labels, ellipsis)
    for k, (t, term) in enumerate(zip(operands, labels)):
        operands[k], labels[k] = _diagonals(t, term, k)
    _check_sizes(operands, labels)
    result, current = operands[0], labels[0]
    for k in range(1, len(operands)):
        keep = set(out).union(*labels[k + 1 :])
        result, current = _contract(result, current, operands[k], labels[k], keep)
    result, current = _sum_out(result, current, set(out))
    return result.permute([current.index(s) for s in out])
