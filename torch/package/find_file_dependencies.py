"""What a source file imports."""

import ast

__all__ = ["find_files_source_depends_on"]


def find_files_source_depends_on(src, package):
    """[(module, name or None)] imported by the source of a module of `package`."""
    found = {}
    for node in ast.walk(ast.parse(src)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[(alias.name, None)] = None
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.rsplit(".", node.level - 1)[0] if node.level > 1 else package
                base = f"{parent}.{base}" if base else parent
            for alias in node.names:
                found[(base, None if alias.name == "*" else alias.name)] = None
    return list(found)
