"""Arguments for wrong calls, as Python source: a call that fails is its own reproducer.

`Values` draws from a `random.Random`. The values of one call share a theme (a shape, a dtype), so
that a good part of the calls gets past the checks of arguments into the kernels.
"""

DTYPES = (
    "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool complex64 complex128 "
    "uint16 uint32 uint64 float8_e4m3fn float8_e5m2"
).split()
COMMON = "float32 float64 int64 bool complex64 bfloat16 int32 uint8".split()
SHAPES = [
    (),
    (0,),
    (1,),
    (3,),
    (7,),
    (2, 3),
    (3, 3),
    (4, 4),
    (1, 0),
    (0, 3),
    (2, 0, 3),
    (2, 3, 4),
    (1, 2, 5, 5),
    (2, 4, 6, 6),
    (2, 2, 3, 3, 3),
    (1, 1, 1, 1, 1, 1),
    (40, 50),
]
SIZES = [0, 1, 2, 3, 4, 5, 7, 16, -1, -2, -3, -7, -100, 100]
HUGE = [2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**31), -(2**62), -(2**63)]
BEYOND = [2**63, 2**64, -(2**63) - 1, 10**30]
FLOATS = "0.5 -0.5 0.0 1.0 2.5 -3.0 1e-30 1e30 1e300 nan inf -inf".split()
WORDS = (
    "'mean' 'sum' 'none' 'bogus' '' 'reflect' 'constant' 'replicate' 'circular' 'same' 'valid' "
    "'bilinear' 'nearest' 'bicubic' 'linear' 'trunc' 'floor' 'ortho' 'forward' 'fro' 'nuc' 'L' "
    "'left' 'right' 'reduced' 'complete' 'r' 'prod' 'amax' 'ij,jk->ik' 'ii->i' '...a,b' '->' "
    "'ij' 'xy' 'linear' 'midpoint' 'zeros' 'border' 'max' 'cpu' 'meta' 'cuda' '\\udc80' 'é'"
).split()
WILD = (
    "None True False 1j (1+2j) object() [] () {} 'x' b'x' [None] [[1, 2], [3]] float int str "
    "torch.float32 torch.int64 torch.complex64 torch.strided torch.sparse_coo Ellipsis "
    "torch.channels_last torch.contiguous_format torch.preserve_format "
    "torch.device('cpu') torch.device('meta') torch.Generator() slice(None) range(3) print"
).split(" ")
WILD = [w for w in WILD if w] + ["torch.nn.Linear(2, 2)", "torch.Size([2, 3])", "torch.Tensor"]
LAYOUTS = (
    ".t()",
    ".transpose(0, -1)",
    "[::2]",
    "[..., 1:]",
    ".flip(0)",
    ".unsqueeze(0)",
    ".expand(3, *{s})",
    ".unsqueeze(-1).expand(*{s}, 2)",
    ".conj()",
    ".detach()",
    ".to(memory_format=torch.channels_last)",
    ".as_strided((3, 2), (1, 1))",
    ".diagonal()",
    ".unfold(0, 2, 1)",
    ".requires_grad_()",
    ".requires_grad_().exp()",
)


class Values:
    def __init__(self, rng):
        self.rng = rng
        self.shape = rng.choice(SHAPES)
        self.dtype = rng.choice(COMMON if rng.random() < 0.8 else DTYPES)

    def tensor(self):
        r = self.rng
        shape = self.shape if r.random() < 0.6 else r.choice(SHAPES)
        dtype = self.dtype if r.random() < 0.7 else r.choice(DTYPES)
        if r.random() < 0.05:
            shape = r.choice([(0, 2**40), (2**62, 0), (0, 2**31, 2**31), (1,) * 30, (2**20, 0)])
        if r.random() < 0.05:
            shape = shape if r.random() < 0.6 else r.choice([(2**40,), (2**31, 2**31), (2**62,)])
            return f"torch.empty({shape}, dtype=torch.{dtype}, device='meta')"
        source = self.filled(shape, dtype)
        if r.random() < 0.3:
            source += r.choice(LAYOUTS).replace("{s}", str(shape))
        return source

    def filled(self, shape, dtype):
        r, n = self.rng, 1
        for s in shape:
            n *= s
        kind = r.random()
        if kind < 0.15 or n == 0:
            return f"torch.{r.choice(['zeros', 'ones'])}({shape}, dtype=torch.{dtype})"
        if kind < 0.3:
            value = r.choice(FLOATS + ["-1", "5", "-100", str(2**40), str(-(2**62))])
            return f"torch.full({shape}, {value}).to(torch.{dtype})"
        if kind < 0.75:
            lowest = r.choice([-2, 0, 0, 0, 1])
            return f"torch.arange({lowest}, {n + lowest}).reshape({shape}).to(torch.{dtype})"
        return f"torch.rand({shape}).to(torch.{dtype})"

    def integer(self):
        r = self.rng.random()
        return str(self.rng.choice(SIZES if r < 0.8 else HUGE if r < 0.97 else BEYOND))

    def dim(self):
        n = max(len(self.shape), 1)
        return str(self.rng.randrange(-n, n)) if self.rng.random() < 0.7 else self.integer()

    def integers(self, n=0):
        r = self.rng
        if n and r.random() < 0.75:
            length = n
        else:
            length = r.choice([0, 1, 1, 2, 2, 3, 4, 5, len(self.shape), 70])
        if r.random() < 0.2:
            return str(self.shape)
        return "[" + ", ".join(self.integer() for _ in range(length)) + "]"

    def number(self):
        r = self.rng.random()
        if r < 0.5:
            return self.integer()
        return self.rng.choice(FLOATS + ["True", "1j"]) if r < 0.95 else self.wild()

    def tensors(self):
        r = self.rng
        return "[" + ", ".join(self.tensor() for _ in range(r.choice([0, 1, 2, 2, 3]))) + "]"

    def index(self):
        r = self.rng
        one = lambda: r.choice(  # noqa: E731
            [self.integer(), "None", "...", "slice(1, None, 2)", "slice(None, None, -1)", "True",
             f"slice({self.integer()}, {self.integer()}, {self.integer()})", "[0, 1]", "[]",
             "[True, False]", "torch.tensor([0, -1])", "torch.tensor([], dtype=torch.int64)",
             "torch.tensor([True, False, True])", self.tensor(), self.wild()])  # fmt: skip
        if r.random() < 0.5:
            return one()
        return "(" + "".join(one() + ", " for _ in range(r.choice([0, 1, 2, 3, 7]))) + ")"

    def wild(self):
        r = self.rng.random()
        if r < 0.35:
            return self.tensor()
        if r < 0.5:
            return self.integer()
        if r < 0.6:
            return self.rng.choice(FLOATS)
        if r < 0.7:
            return self.rng.choice(WORDS)
        if r < 0.78:
            return self.integers()
        if r < 0.84:
            return self.tensors()
        return self.rng.choice(WILD)

    def of_type(self, kind):
        """A value for a schema type such as ``Tensor``, ``int[2]``, ``ScalarType?``."""
        r = self.rng
        if r.random() < 0.06:
            return self.wild()
        if kind.endswith("?"):
            if r.random() < 0.4:
                return "None"
            kind = kind[:-1]
        if kind.startswith("Tensor"):
            return self.tensors() if "[" in kind else self.tensor()
        if kind.startswith(("int[", "SymInt[")):
            digits = kind.split("[")[1].rstrip("]")
            return self.integers(int(digits or 0))
        if kind.startswith(("float[", "Scalar[")):
            return "[" + ", ".join(self.number() for _ in range(r.choice([0, 1, 2, 3, 4]))) + "]"
        if kind.startswith("bool["):
            return r.choice(["[True]", "[True, False]", "[True, True, False]", "[]"])
        return self.simple(kind)

    def simple(self, kind):
        r = self.rng
        if kind in ("int", "SymInt"):
            return self.dim() if r.random() < 0.5 else self.integer()
        if kind == "float":
            return r.choice(FLOATS)
        if kind in ("Scalar", "number"):
            return self.number()
        if kind == "bool":
            return r.choice(["True", "False"])
        if kind == "str":
            return r.choice(WORDS)
        if kind in ("ScalarType", "dtype"):
            return "torch." + r.choice(DTYPES)
        if kind in ("Device", "device"):
            return r.choice(["'cpu'", "'meta'", "'cuda'", "'bogus'"])
        if kind == "Generator":
            return "torch.Generator()"
        if kind in ("MemoryFormat", "memory_format"):
            return "torch." + r.choice(["contiguous_format", "channels_last", "preserve_format"])
        if kind == "index":
            return self.index()
        return self.wild()
