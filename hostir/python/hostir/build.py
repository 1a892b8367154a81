"""Builds the text of a fusion, op by op.

    f = hostir.Fusion("mlp", mesh={"tp": 2})
    x = f.input("x", "f32", (4, 8))
    w = f.input("w", "f32", (8, 6), [(), ("tp",)])
    f.output(f.relu(x @ w, name="y"), "f32", (4, 6))
    hostir.open(f, inputs={"x": x_array, "w": w_array})

Every op of `hostir ops` is a method: operands by position, attributes by name. Shapes and shardings of results are
inferred and checked when the text is opened; nothing is checked here.
"""
from __future__ import annotations

from typing import Any, Mapping, Sequence

Dims = Sequence[Sequence[str]]


class Value:
    """A value of a fusion. `+ - * / @` and unary `-` work as in numpy."""

    def __init__(self, fusion: "Fusion", name: str):
        self.fusion = fusion
        self.name = name

    def __add__(self, other: Any) -> "Value":
        return self.fusion.op("add", self, other)

    def __radd__(self, other: Any) -> "Value":
        return self.fusion.op("add", other, self)

    def __sub__(self, other: Any) -> "Value":
        return self.fusion.op("sub", self, other)

    def __rsub__(self, other: Any) -> "Value":
        return self.fusion.op("sub", other, self)

    def __mul__(self, other: Any) -> "Value":
        return self.fusion.op("mul", self, other)

    def __rmul__(self, other: Any) -> "Value":
        return self.fusion.op("mul", other, self)

    def __truediv__(self, other: Any) -> "Value":
        return self.fusion.op("div", self, other)

    def __rtruediv__(self, other: Any) -> "Value":
        return self.fusion.op("div", other, self)

    def __matmul__(self, other: Any) -> "Value":
        return self.fusion.op("matmul", self, other)

    def __neg__(self) -> "Value":
        return self.fusion.op("neg", self)

    def __repr__(self) -> str:
        return f"%{self.name}"


def _attribute(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_attribute, value)) + "]"
    return str(value)


class Fusion:
    """A fusion under construction. `mesh`: the sizes of its axes, major to minor."""

    def __init__(self, name: str, mesh: Mapping[str, int]):
        self.name = name
        self.mesh = dict(mesh)
        self._inputs: list[str] = []
        self._outputs: list[tuple[Value, str]] = []
        self._lines: list[str] = []
        self._names: set[str] = set()

    def _sharding(self, dims: Dims, unreduced: Sequence[str] = ()) -> str:
        cut = ", ".join("{" + ", ".join(axes) + "}" for axes in dims)
        open_sum = f", unreduced={{{', '.join(unreduced)}}}" if unreduced else ""
        return f"<@m, [{cut}]{open_sum}>"

    def _type(self, dtype: str, shape: Sequence[int | str]) -> str:
        sizes = "".join(f"?{size}x" if isinstance(size, str) else f"{size}x" for size in shape)
        return f"tensor<{sizes}{dtype}>"

    def _new_name(self, wanted: str | None) -> str:
        name = wanted or f"v{len(self._names)}"
        if name in self._names:
            raise ValueError(f"fusion @{self.name} already has a value %{name}")
        self._names.add(name)
        return name

    def input(self, name: str, dtype: str, shape: Sequence[int | str], sharding: Dims | None = None) -> Value:
        """A parameter. shape: numbers, or names of symbolic sizes ("B"); sharding: mesh axes per dimension."""
        dims = sharding if sharding is not None else [()] * len(shape)
        if len(dims) != len(shape):
            raise ValueError(f"input {name} has {len(shape)} dimensions; its sharding has {len(dims)}")
        self._inputs.append(f"%{self._new_name(name)}: {self._type(dtype, shape)} {self._sharding(dims)}")
        return Value(self, name)

    def op(self, mnemonic: str, *operands: Any, name: str | None = None, sharding: Dims | None = None,
           unreduced: Sequence[str] = (), **attributes: Any) -> Value:
        """An instruction. Operands are values, or numbers where the op takes them; `name` names the result."""
        made = Value(self, self._new_name(name))
        texts = [f"%{operand.name}" if isinstance(operand, Value) else _attribute(operand) for operand in operands]
        line = f"  %{made.name} = {mnemonic} {', '.join(texts)}".rstrip()
        if attributes:
            line += " {" + ", ".join(f"{key} = {_attribute(value)}" for key, value in attributes.items()) + "}"
        if sharding is not None:
            line += " " + self._sharding(sharding, unreduced)
        self._lines.append(line)
        return made

    def __getattr__(self, mnemonic: str) -> Any:
        if mnemonic.startswith("_"):
            raise AttributeError(mnemonic)
        return lambda *operands, **attributes: self.op(mnemonic, *operands, **attributes)

    def output(self, value: Value, dtype: str, shape: Sequence[int | str], sharding: Dims | None = None) -> Value:
        """A result, with its type; without a sharding propagation decides."""
        layout = self._sharding(sharding) if sharding is not None else \
            f"<@m, [{', '.join('{?}' for _ in shape)}]>"
        self._outputs.append((value, f"%{value.name}: {self._type(dtype, shape)} {layout}"))
        return value

    def text(self) -> str:
        """The program as text."""
        if not self._outputs:
            raise ValueError(f"fusion @{self.name} has no output")
        axes = ", ".join(f"{axis}={size}" for axis, size in self.mesh.items())
        results = ", ".join(text for _, text in self._outputs)
        returned = ", ".join(f"%{value.name}" for value, _ in self._outputs)
        return "\n".join([f"mesh @m = <{axes}>", f"fusion @{self.name}({', '.join(self._inputs)}) -> ({results}) {{",
                          *self._lines, f"  return {returned}", "}", ""])
