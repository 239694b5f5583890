"""The generator: ops/*.yaml -> C++ and Python products under --out.

main.py --out DIR ops/*.yaml          write what changed
main.py --list-outputs ops/*.yaml     names of the files it makes, relative to DIR
main.py --explain NAME ops/*.yaml     print everything that one operator becomes
"""

import argparse
import os
import sys

import emit_api
import emit_autograd
import emit_docs
import emit_pointwise
import emit_python
import emit_registry
from model import EntryError, load


def write_if_changed(path, text):
    try:
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    except OSError:
        pass
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def read(files):
    families, index = {}, {}
    for path in sorted(files):
        family = os.path.splitext(os.path.basename(path))[0]
        families[family] = load(path)
        for e in families[family]:
            index.setdefault(e.name, []).append((family, e))
    check_unique(families)
    return families, index


def check_unique(families):
    seen = {}
    for family, entries in families.items():
        for e in entries:
            key = (e.name, e.overload)
            if key in seen:
                e.fail(f"declared before at {seen[key]}")
            seen[key] = f"{e.file}:{e.line}"


def products(families, index):
    out, modules = {}, {}
    for family, entries in families.items():
        out[f"ops/{family}.h"] = emit_api.emit(family, entries)
        out[f"autograd_{family}.cpp"] = emit_autograd.emit(family, entries, index)
        out[f"registry_{family}.cpp"] = emit_registry.emit(family, entries)
        out[f"python_{family}.cpp"], modules[family] = emit_python.emit(family, entries)
        if any(e.kind == "pointwise" for e in entries):
            out[f"pointwise_{family}.h"] = emit_pointwise.header(family, entries)
            out[f"pointwise_{family}.cpp"] = emit_pointwise.descriptors(family, entries)
            out[f"kernels_{family}.cpp"] = emit_pointwise.kernels(family, entries)
        out[f"docs/ops/{family}.md"] = emit_docs.page(family, entries)
    out["py/torch/_C.pyi"] = emit_docs.stub(families)
    out["registry.cpp"] = emit_registry.emit_all(families)
    out["python_registry.cpp"] = emit_python.emit_all(modules)
    return out


def explain(name, families, index):
    if name not in index:
        sys.exit(f"no operator '{name}' in the files given")
    for family, e in index[name]:
        print(
            f"==== {e.schema}\n     declared at {e.file}:{e.line}, family {family}, kind {e.kind}\n"
        )
        single = products({family: [x for _, x in index[name] if _ == family]}, index)
        for path, text in single.items():
            if path not in ("registry.cpp", "python_registry.cpp"):
                print(f"---- gen/{path}\n{text}")
        break


def main():
    p = argparse.ArgumentParser()
    p.add_argument("files", nargs="+")
    p.add_argument("--out")
    p.add_argument("--list-outputs", action="store_true")
    p.add_argument("--explain")
    a = p.parse_args()
    try:
        families, index = read(a.files)
        if a.explain:
            return explain(a.explain, families, index)
        made = products(families, index)
    except EntryError as e:
        sys.exit(str(e))
    if a.list_outputs:
        print("\n".join(sorted(made)))
        return
    for path, text in made.items():
        write_if_changed(os.path.join(a.out, path), text)


if __name__ == "__main__":
    main()
