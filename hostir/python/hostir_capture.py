"""Captures a training step of a PyTorch module as a program of the workbench. Needs torch and nothing else.

    import hostir_capture
    hostir_capture.capture("step.hir", model, (tokens,), loss=loss_of, targets=(labels,), optimizer=optimizer)

Every rank of the job calls it. It runs one step and records the operations on local tensors: forward, backward and
optimizer, with the functional collectives that DTensor, fully_shard or the module itself issues. The first rank writes

    step.hir                    mesh, kernels, host functions @forward, @backward, @optimizer, and @step, which calls them
    step.safetensors            parameters, buffers, optimizer state and inputs, each as a global tensor
    step.expected.safetensors   what the step returned: loss, outputs, gradients, new parameters
    step.graph.json             the graphs of all ranks (`python3 hostir_capture.py step.graph.json -o step.hir`)

and `hostir run step.hir @step --input @step.safetensors --expect @step.expected.safetensors` repeats the step.
"""
import json


class CaptureError(Exception):
    pass


# --- Recording: needs torch -------------------------------------------------------------------------------------------

def _dtype_names():
    import torch
    names = {"float64": "f64", "float32": "f32", "bfloat16": "bf16", "float16": "f16", "float8_e4m3fn": "f8e4m3",
             "float8_e5m2": "f8e5m2", "int64": "i64", "int32": "i32", "int16": "i16", "int8": "i8", "uint64": "u64",
             "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "i1"}
    return {getattr(torch, theirs): ours for theirs, ours in names.items() if hasattr(torch, theirs)}


def _is_dtensor(value):
    from torch.distributed.tensor import DTensor
    return isinstance(value, DTensor)


def _placement(p):
    """A placement as plain data: ["S", dim], ["SS", dim, split_factor], ["R"], ["P", reduction]."""
    if hasattr(p, "split_factor"):
        return ["SS", p.dim, p.split_factor]
    if p.is_shard():
        return ["S", p.dim]
    if p.is_replicate():
        return ["R"]
    return ["P", getattr(p, "reduce_op", str(p))]


def _mesh_axes(mesh):
    names = mesh.mesh_dim_names or tuple(f"d{i}" for i in range(mesh.ndim))
    return [[name, mesh.size(i)] for i, name in enumerate(names)]


def _root_mesh(mesh):
    root = getattr(mesh, "_get_root_mesh", None)
    return root() if root else mesh


def _describe(value):
    """Type and layout of a tensor; a DTensor's local type, global shape and placements."""
    dtypes = _dtype_names()
    local = value.to_local() if _is_dtensor(value) else value
    out = {"dtype": dtypes[local.dtype], "shape": list(local.shape)}
    if _is_dtensor(value):
        out["global_shape"] = list(value.shape)
        out["axes"] = [name for name, _ in _mesh_axes(value.device_mesh)]
        out["placements"] = [_placement(p) for p in value.placements]
    return out


class _Sources:
    """The user's source line for each node. A forward operation gets it from the Python stack, a backward operation
    from the forward operation whose gradient autograd is computing."""

    def __init__(self):
        import os
        import torch
        self.library = os.path.dirname(torch.__file__) + os.sep
        self.current = torch._C._current_autograd_node
        self.next_sequence = torch.autograd._get_sequence_nr
        self.of_node, self.of_sequence = {}, {}

    def watch(self, graph):
        """Records the source of each node that the graph creates from now on."""
        create = graph.create_node

        def create_node(*args, **kwargs):
            node = create(*args, **kwargs)
            backward = self.current()
            if backward is not None:
                source = self.of_sequence.get(backward._sequence_nr())
            else:
                source = self.here()
                if source:
                    self.of_sequence[self.next_sequence() - 1] = source
            if source:
                self.of_node[node.name] = source
            return node
        graph.create_node = create_node

    def here(self):
        """The innermost frame of the user's code inside the step, else of torch's layers and optimizers."""
        import linecache
        import os
        import sys
        frame, layers = sys._getframe(), None
        while frame is not None:
            file = frame.f_code.co_filename
            inside = file.startswith(self.library)
            if not inside and file != __file__ and not file.startswith("<") or \
                    layers is None and inside and file[len(self.library):].startswith(("nn" + os.sep, "optim" + os.sep)):
                found = {"file": file, "line": frame.f_lineno, "function": frame.f_code.co_name,
                         "code": linecache.getline(file, frame.f_lineno).strip()}
                if inside:
                    layers = dict(found, file="torch/" + file[len(self.library):])
                else:
                    return dict(found, file=os.path.relpath(file) if file.startswith(os.getcwd() + os.sep) else file)
            if file == __file__ and frame.f_code.co_name == "step":
                return layers
            frame = frame.f_back
        return layers


def _plain(value):
    """An argument of a node as JSON."""
    import torch
    if isinstance(value, torch.fx.Node):
        return {"n": value.name}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, float) and value in (float("inf"), float("-inf")) or value != value:
        return {"float": str(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, torch.dtype):
        return {"dtype": _dtype_names().get(value, str(value))}
    return {"other": str(value)}


def _result_types(node):
    """Types of a node's results, or None for those that are not tensors."""
    import torch
    dtypes = _dtype_names()
    value = node.meta.get("val", node.meta.get("tensor_meta"))

    def one(v):
        if isinstance(v, torch.Tensor) or hasattr(v, "shape") and hasattr(v, "dtype"):
            return {"dtype": dtypes.get(v.dtype, str(v.dtype)), "shape": [int(n) for n in v.shape]}
        return None
    if isinstance(value, torch.Tensor) or not isinstance(value, (list, tuple)):
        return [one(value)]
    return [one(v) for v in value] if not hasattr(value, "shape") else [one(value)]


def _live(graph):
    """Names of the nodes that outputs or collectives depend on. DTensor leaves many behind that nothing needs."""
    family = {}   # a node -> the node whose storage it shares

    def root(name):
        while family.get(name, name) != name:
            name = family[name]
        return name
    changes = set()
    for node in graph.nodes:
        name = getattr(node.target, "__name__", str(node.target)).split(".")[0]
        in_place = name.endswith("_") and not name.startswith("_")
        if node.op == "call_function" and node.args and (in_place or name in _VIEWS or name == "getitem"):
            if hasattr(node.args[0], "name"):
                family[node.name] = root(node.args[0].name)
                if in_place:
                    changes.add(node.name)
    live, families = set(), set()
    for node in reversed(list(graph.nodes)):
        always = node.op == "output" or "_c10d_functional" in str(node.target) or "_dtensor" in str(node.target)
        if always or node.name in live or node.name in changes and root(node.name) in families:
            for used in node.all_input_nodes:
                live.add(used.name)
                families.add(root(used.name))
            live.add(node.name)
    return live


def _record_graph(graph_module, phase_of, sources):
    import torch
    nodes = []
    dtypes = _dtype_names()
    live = set().union(*_from_all(_live(graph_module.graph)))   # what is unused may differ between ranks
    for node in graph_module.graph.nodes:
        if node.name not in live or node.op not in ("get_attr", "call_function"):
            continue
        entry = {"name": node.name, "target": "constant", "phase": phase_of.get(node.name, "forward")}
        if str(node.target).startswith("aten.as_strided"):
            value = node.args[0].meta.get("val")
            if value is None or not value.is_contiguous() or value.storage_offset():
                raise CaptureError(f"%{node.name}: as_strided of a tensor that does not fill its memory in order")
        if node.op == "get_attr":
            value = getattr(graph_module, node.target)
            if not isinstance(value, torch.Tensor):
                raise CaptureError(f"%{node.name}: the step calls torch.distributed on a process group; use functional "
                                   "collectives, or tensors that are DTensors before the step")
            entry.update(args=[value.detach().flatten().tolist()],
                         out=[{"dtype": dtypes[value.dtype], "shape": list(value.shape)}])
        else:
            overload = isinstance(node.target, torch._ops.OpOverload)
            entry.update(target=str(node.target) if overload else node.target.__name__, args=_plain(node.args))
            kwargs = {k: _plain(v) for k, v in node.kwargs.items() if k not in _PLACE}
            if kwargs:
                entry["kwargs"] = kwargs
            entry["out"] = _result_types(node)
        if node.name in sources.of_node:
            entry["source"] = sources.of_node[node.name]
        nodes.append(entry)
    return nodes


_PLACE = ("device", "layout", "pin_memory", "memory_format", "dtype", "non_blocking")   # of no effect on the numbers


def _groups(nodes):
    """Members of the groups that collectives name."""
    import torch.distributed as dist
    from torch.distributed.distributed_c10d import _resolve_process_group
    out = {}
    for node in nodes:
        if not node["target"].startswith(("_c10d_functional", "_dtensor")):
            continue
        for argument in node["args"]:
            if isinstance(argument, str) and argument not in out and argument not in _REDUCTIONS:
                out[argument] = dist.get_process_group_ranks(_resolve_process_group(argument))
    return out


_REDUCTIONS = ("sum", "avg", "product", "min", "max", "band", "bor", "bxor", "premul_sum")


class _Flat:
    """Tensors of a step as a flat list of local tensors, and back."""

    def __init__(self):
        self.entries = []   # {"name", "kind", ...}
        self.values = []    # the user's tensors

    def add(self, kind, name, value):
        entry = {"name": name, "kind": kind}
        entry.update(_describe(value))
        self.entries.append(entry)
        self.values.append(value)

    def locals(self):
        return [v.to_local().detach() if _is_dtensor(v) else v.detach() for v in self.values]

    def wrap(self, locals_):
        """The user's tensors, made of these local ones; floating-point parameters require a gradient."""
        from torch.distributed.tensor import DTensor
        out = []
        for entry, like, local in zip(self.entries, self.values, locals_):
            wants_grad = entry["kind"] == "parameter" and like.requires_grad
            if _is_dtensor(like):
                local = DTensor(local, like._spec, requires_grad=wants_grad)
            elif wants_grad:
                local = local.detach().requires_grad_()
            out.append(local)
        return out


def _fsdp_parameters(module):
    """Names of the parameters that fully_shard manages, and how to gather each."""
    try:
        from torch.distributed.fsdp import FSDPModule
    except ImportError:
        return {}
    managed = {}
    for prefix, part in module.named_modules():
        if not isinstance(part, FSDPModule):
            continue
        group = part._get_fsdp_state()._fsdp_param_group
        if group is None:
            continue
        policy = group.mp_policy
        if policy.param_dtype or policy.reduce_dtype or policy.output_dtype:
            raise CaptureError("fully_shard's mixed precision is not captured: pass MixedPrecisionPolicy()")
        fqn_of = {id(p): n for n, p in module.named_parameters()}   # of a tied parameter the first name
        for fsdp_param in group.fsdp_params:
            managed[fqn_of[id(fsdp_param.sharded_param)]] = _Unshard(fsdp_param.sharded_param, group.mesh_info.mesh)
    return managed


class _without_fsdp_hooks:
    """Takes fully_shard's hooks off while the step is traced: they work on storages, which a graph cannot show."""

    def __init__(self, module):
        self.module = module

    def __enter__(self):
        self.saved = []
        for part in self.module.modules():
            for hooks in (part._forward_pre_hooks, part._forward_hooks):
                for key, hook in list(hooks.items()):
                    owner = type(getattr(hook, "__self__", None)).__module__ or ""
                    if (getattr(hook, "__module__", "") or "").startswith("torch.distributed.fsdp") or \
                            owner.startswith("torch.distributed.fsdp"):
                        self.saved.append((hooks, key, hook))
                        del hooks[key]

    def __exit__(self, *_):
        for hooks, key, hook in self.saved:
            hooks[key] = hook


class _Unshard:
    """What a layer sees of a parameter of fully_shard: gathered over the data-parallel axes. Its gradient is the mean
    over those axes, scattered."""

    def __init__(self, parameter, data_mesh):
        import torch
        from torch.distributed.tensor import Partial, Replicate
        mesh = parameter.device_mesh
        names = mesh.mesh_dim_names or tuple(f"d{i}" for i in range(mesh.ndim))
        data = [i for i, name in enumerate(names) if name in (data_mesh.mesh_dim_names or names)]
        rest = [i for i in range(mesh.ndim) if i not in data]
        self.gathered = [Replicate() if i in data else p for i, p in enumerate(parameter.placements)]
        self.grads = [Partial("sum") if i in data else p for i, p in enumerate(self.gathered)]
        self.inner = mesh[tuple(names[i] for i in rest)] if rest else None
        self.placements = [self.gathered[i] for i in rest]
        size = data_mesh.size()

        class Mean(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.view_as(x)

            @staticmethod
            def backward(ctx, grad):
                return grad / size
        self.mean = Mean.apply

    def __call__(self, parameter):
        from torch.distributed.tensor import DTensor
        whole = parameter.redistribute(placements=self.gathered)
        local = self.mean(whole.to_local(grad_placements=self.grads))
        if self.inner is None:
            return local
        return DTensor.from_local(local, self.inner, self.placements, run_check=False)


def _decompositions():
    """The decompositions of core ATen, and of every operation that has no handler here."""
    import torch
    from torch._decomp import core_aten_decompositions, decomposition_table
    table = {}
    for op, how in decomposition_table.items():
        name = op._schema.name.split("::")[-1] if isinstance(op, torch._ops.OpOverload) else None
        if name and op.namespace == "aten" and not name.endswith("_") and name not in _ATEN:
            table[op] = how
    table.update(core_aten_decompositions())
    return table


def _traceable():
    """Functions that look at values although their result's shape does not depend on them."""
    import torch
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            if getattr(func, "__name__", "") == "one_hot":
                count = kwargs.get("num_classes", args[1] if len(args) > 1 else -1)
                if count >= 0:
                    x = args[0] if args else kwargs["tensor"]
                    return (x.unsqueeze(-1) == torch.arange(count, device=x.device)).to(torch.int64)
            return func(*args, **kwargs)
    return Mode()


def record(module, args, loss=None, targets=(), optimizer=None):
    """Runs one step under make_fx on this rank. Returns (record, inputs, results): the graph as plain data, and the
    tensors."""
    import copy
    import torch
    from torch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx
    from torch.nn.attention import SDPBackend, sdpa_kernel

    flat = _Flat()
    for name, value in module.named_parameters():
        flat.add("parameter", name, value)
    for name, value in module.named_buffers():
        flat.add("buffer", name, value)
    for i, value in enumerate(args):
        flat.add("input", f"input{i}" if len(args) > 1 else "input", value)
    for i, value in enumerate(targets):
        flat.add("input", f"target{i}" if len(targets) > 1 else "target", value)
    names = {id(v): e["name"] for e, v in zip(flat.entries, flat.values) if e["kind"] == "parameter"}
    if optimizer is not None:
        for group in optimizer.param_groups:
            for p in group["params"]:
                if id(p) not in names:
                    raise CaptureError("the optimizer has a parameter that is not one of the module's")
                for key, value in optimizer.state.get(p, {}).items():
                    if isinstance(value, torch.Tensor) and key != "step":
                        flat.add("state", f"{key}.{names[id(p)]}", value)
    managed = _fsdp_parameters(module)
    phase_of = {}
    results = []   # (kind, name, tensor)

    def mark(phase):
        mode = get_proxy_mode()
        for node in mode.tracer.graph.nodes:
            phase_of.setdefault(node.name, phase)

    def run_optimizer(parameters, grads, state):
        ours = copy.copy(optimizer)
        stand_in = {}
        for name, p in parameters.items():
            new = p.detach().clone().requires_grad_()
            new.grad = grads.get(name)
            stand_in[name] = new
        ours.param_groups = []
        for group in optimizer.param_groups:
            inside = dict(group, params=[stand_in[names[id(p)]] for p in group["params"]])
            for key in ("foreach", "fused"):
                if key in inside:
                    inside[key] = False
            ours.param_groups.append(inside)
        ours.state = type(optimizer.state)(dict)
        for group in optimizer.param_groups:
            for p in group["params"]:
                mine = ours.state[stand_in[names[id(p)]]] if optimizer.state.get(p) else {}
                for key, value in optimizer.state.get(p, {}).items():
                    traced = state.get(f"{key}.{names[id(p)]}")
                    if traced is not None:
                        mine[key] = traced.clone()
                    elif isinstance(value, torch.Tensor):   # the count of steps; a copy would show its storage
                        mine[key] = torch.tensor(value.item(), dtype=value.dtype)
                    else:
                        mine[key] = copy.deepcopy(value)
        type(optimizer).step(ours)
        for name, new in stand_in.items():
            results.append(("parameter", f"{name}.new", new.detach()))
        for name, new in stand_in.items():
            for key, value in ours.state.get(new, {}).items():
                if isinstance(value, torch.Tensor) and key != "step":
                    results.append(("state", f"{key}.{name}.new", value))

    def step(*locals_):
        graph = get_proxy_mode().tracer.graph
        sources.watch(graph)
        values = flat.wrap(locals_)
        kinds = {}
        for entry, value in zip(flat.entries, values):
            kinds.setdefault(entry["kind"], {})[entry["name"]] = value
        parameters = kinds.get("parameter", {})
        inputs = list(kinds.get("input", {}).values())
        seen = {n: managed[n](p) if n in managed else p for n, p in parameters.items()}
        seen.update(kinds.get("buffer", {}))
        output = torch.func.functional_call(module, seen, tuple(inputs[:len(args)]), tie_weights=True)
        cost = loss(output, *inputs[len(args):]) if loss is not None else output
        outputs = torch.utils._pytree.tree_leaves(output)
        scalar = isinstance(cost, torch.Tensor) and cost.numel() == 1 and cost.requires_grad
        if scalar:
            results.append(("loss", "loss", cost.detach()))
        if not scalar or loss is not None:
            for i, value in enumerate(outputs):
                if isinstance(value, torch.Tensor):
                    results.append(("output", f"output{i}" if len(outputs) > 1 else "output", value.detach()))
        mark("forward")
        grads = {}
        if scalar:
            wanted = {n: p for n, p in parameters.items() if p.requires_grad}
            found = torch.autograd.grad(cost, list(wanted.values()), allow_unused=True)
            for name, grad in zip(wanted, found):
                if grad is not None:
                    grads[name] = grad
                    results.append(("gradient", f"grad.{name}", grad))
            mark("backward")
        if optimizer is not None and grads:
            run_optimizer(parameters, grads, kinds.get("state", {}))
            mark("optimizer")
        returned = [v.to_local() if _is_dtensor(v) else v for _, _, v in results]
        mark("optimizer" if optimizer is not None and grads else "backward" if grads else "forward")
        del graph.create_node
        return returned

    sources = _Sources()
    plain = torch.backends.mkldnn.flags(enabled=False), torch.backends.cudnn.flags(enabled=False)   # LSTMs in ATen
    with _without_fsdp_hooks(module), sdpa_kernel(SDPBackend.MATH), _traceable(), plain[0], plain[1]:
        traced = make_fx(step, decomposition_table=_decompositions(), tracing_mode="real")(*flat.locals())
    nodes = _record_graph(traced, phase_of, sources)
    placeholders = [n.name for n in traced.graph.nodes if n.op == "placeholder"]
    for entry, node in zip(flat.entries, placeholders):
        entry["node"] = node
    returned = next(n for n in traced.graph.nodes if n.op == "output").args[0]
    outputs = []
    for (kind, name, value), node in zip(results, returned):
        entry = {"name": name, "kind": kind, "node": node.name}
        entry.update(_describe(value))
        outputs.append(entry)
    rank, world = _rank(), _world_size()
    meshes = [m for m in (_root_mesh(v.device_mesh) for v in flat.values if _is_dtensor(v)) if m.size() == world]
    made = {"format": "hostir-fx", "version": 1, "torch": torch.__version__, "rank": rank, "world_size": world,
            "mesh": _mesh_axes(meshes[0]) if meshes else [["ranks", world]],
            "device_ids": meshes[0].mesh.flatten().tolist() if meshes else list(range(world)),
            "groups": _groups(nodes), "inputs": flat.entries, "nodes": nodes, "outputs": outputs}
    return made, flat.values, [v for _, _, v in results]


def _rank():
    import torch.distributed as dist
    return dist.get_rank() if dist.is_initialized() else 0


def _world_size():
    import torch.distributed as dist
    return dist.get_world_size() if dist.is_initialized() else 1


def _from_all(value):
    """The values of all ranks, on every rank."""
    import torch.distributed as dist
    if _world_size() == 1:
        return [value]
    out = [None] * _world_size()
    dist.all_gather_object(out, value)
    return out


def capture(path, module, args, loss=None, targets=(), optimizer=None, results=True):
    """Writes one training step of a module as a program; see the head of this file. Called by all ranks.

    `module` may be what torch.export.export returned; its graph is then captured with these arguments.
    `args` and `targets` are this rank's tensors: the step computes `loss(module(*args), *targets)`, or `module(*args)`
    alone, which is the loss if it is a scalar that requires a gradient. The module, its gradients and the optimizer are
    left as they are. `results`: also write what the step returned. Returns the text on the first rank.

    Errors: CaptureError lists operations that have no counterpart, each with its first source line, and says what else
    cannot be expressed: ranks that run different programs, shards of unequal sizes, in-place changes of views.
    """
    import torch
    import torch.distributed as dist
    stem = path[:-4] if path.endswith(".hir") else path
    if isinstance(module, torch.export.ExportedProgram):
        module = module.module()
    if not all(isinstance(a, torch.Tensor) for a in (*args, *targets)):
        raise CaptureError("args and targets must be tensors; wrap the module in a function of tensors for anything else")
    made, inputs, outputs = record(module, args, loss, targets, optimizer)
    for entry, varies in zip(made["inputs"], _varying_axes(made, inputs)):
        if varies:
            entry["varies"] = varies
    said, text, stacked = "", "", None
    records = _from_all(made)
    if _rank() == 0:
        try:
            merged = merge(records)
            with open(stem + ".graph.json", "w") as file:
                json.dump(merged, file, separators=(",", ":"))
            graph = _Graph(merged)
            text = _Text(graph).text()
            stacked = [graph.stacked(e, v.varies) for e, v in zip(merged["outputs"], graph.outputs)]
            with open(stem + ".hir", "w") as file:
                file.write(text)
        except Exception as error:  # pylint: disable=broad-except
            if _world_size() == 1:
                raise
            said = str(error) or repr(error)  # the other ranks wait for it
    told = [said, stacked]
    if _world_size() > 1:
        dist.broadcast_object_list(told, src=0)
    if told[0]:
        raise CaptureError(told[0])
    _write_globals(stem + ".safetensors", made, made["inputs"], inputs, [e.get("varies", []) for e in made["inputs"]])
    if results:
        _write_globals(stem + ".expected.safetensors", made, made["outputs"], outputs, told[1])
    return text


# --- Tensors: safetensors and global values ---------------------------------------------------------------------------

_SAFE = {"f64": "F64", "f32": "F32", "bf16": "BF16", "f16": "F16", "f8e4m3": "F8_E4M3", "f8e5m2": "F8_E5M2", "i64": "I64",
         "i32": "I32", "i16": "I16", "i8": "I8", "u64": "U64", "u32": "U32", "u16": "U16", "u8": "U8", "i1": "BOOL"}


def write_safetensors(path, tensors):
    """Writes {name: torch.Tensor}: the length of the header in 8 bytes, the header as JSON, the tensors' bytes."""
    dtypes = _dtype_names()
    header, at = {}, 0
    for name, value in tensors.items():
        size = value.numel() * value.element_size()
        header[name] = {"dtype": _SAFE[dtypes[value.dtype]], "shape": list(value.shape), "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for value in tensors.values():
            file.write(_bytes(value))


def _bytes(value):
    import ctypes
    value = value.detach().cpu().contiguous()
    size = value.numel() * value.element_size()
    return ctypes.string_at(value.data_ptr(), size) if size else b""


def _whole(value):
    return (value.full_tensor() if _is_dtensor(value) else value).detach()


def _varying_axes(made, tensors):
    """For each tensor the axes of the mesh along which ranks hold different values (of a DTensor: beyond its own
    mesh)."""
    import hashlib
    digests = _from_all([hashlib.sha256(_bytes(_whole(v))).digest() for v in tensors])
    return [sorted(_differing_axes(made["mesh"], [digests[r][i] for r in made["device_ids"]]))
            for i in range(len(tensors))]


def _differing_axes(mesh, by_position):
    """The axes along which neighbours in the mesh have different values."""
    out, stride = set(), 1
    for axis, size in reversed(mesh):
        for p, value in enumerate(by_position):
            if value != by_position[p - p // stride % size * stride]:
                out.add(axis)
        stride *= size
    return out


def _write_globals(path, made, entries, tensors, stacked):
    """Writes global values on the first rank. A tensor with `stacked` axes is stacked along dimension 0."""
    import torch
    out = {}
    for entry, value, axes in zip(entries, tensors, stacked):
        value = _whole(value)
        if axes:
            parts = [p.cpu() for p in _from_all(value)]
            kept, stride = [True] * len(parts), 1
            for axis, size in reversed(made["mesh"]):
                if axis not in axes:
                    kept = [k and p // stride % size == 0 for p, k in enumerate(kept)]
                stride *= size
            parts = [parts[r] for r, k in zip(made["device_ids"], kept) if k]
            value = torch.cat([p.reshape(1) if p.dim() == 0 else p for p in parts])
        out[entry["name"]] = value
    if _rank() == 0:
        write_safetensors(path, out)


# --- Graphs of local operations: from ATen to our ops, as single assignments -------------------------------------------

_FLOATS = {"f64": 8, "f32": 4, "bf16": 2, "f16": 2, "f8e4m3": 1, "f8e5m2": 1}
_INTS = {"i64": 8, "i32": 4, "i16": 2, "i8": 1, "u64": 8, "u32": 4, "u16": 2, "u8": 1}


class _Value:
    def __init__(self, name, dtype, shape, phase, varies):
        self.name, self.dtype, self.shape, self.phase, self.varies = name, dtype, list(shape), phase, frozenset(varies)
        self.port = None   # its type in a host function's signature, if that is not its local type


class _Instr:
    """One of our ops on local tensors, or a collective (`group` is not None)."""

    def __init__(self, op, operands, attributes, result, source, group=None):
        self.op, self.operands, self.attributes, self.result = op, operands, attributes, result
        self.source, self.group, self.phase = source, group, result.phase
        self.second = None   # the indices of sort and topk

    def results(self):
        return [self.result] if self.second is None else [self.result, self.second]

    def inputs(self):
        return [v for v in self.operands if isinstance(v, _Value)]


class _Cell:
    """What a tensor's storage holds now. In-place operations store a new value; views refer to their base."""

    def __init__(self, value, base=None, put_back=None, again=None):
        self.value, self.base, self.version = value, base, 0
        self.again = again         # of a view: makes its value from the base's present one
        self.put_back = put_back   # of a view: the new value of the base, from its old value and the view's new one
        self.base_version = base.version if base else 0


def _same(values):
    return all(v == values[0] for v in values)


def _merge(values):
    """One argument of all ranks. {"ranks": [...]} where ranks differ."""
    if _same(values):
        return values[0]
    if all(isinstance(v, list) for v in values) and _same([len(v) for v in values]):
        return [_merge(list(column)) for column in zip(*values)]
    return {"ranks": values}


def _per_rank(argument):
    return isinstance(argument, dict) and "ranks" in argument


def _of_rank(argument, rank):
    if _per_rank(argument):
        return argument["ranks"][rank]
    return [_of_rank(a, rank) for a in argument] if isinstance(argument, list) else argument


def _count(shape):
    n = 1
    for size in shape:
        n *= size
    return n


def merge(records):
    """The records of all ranks as one: arguments that differ become {"ranks": [...]}, group names their members."""
    records = sorted(records, key=lambda r: r["rank"])
    first = records[0]
    for other in records[1:]:
        what = f"rank {other['rank']} differs from rank {first['rank']}: "
        for key in ("mesh", "device_ids", "world_size"):
            if other[key] != first[key]:
                raise CaptureError(f"{what}{key} {other[key]}, not {first[key]}")
        for a, b in zip(first["inputs"] + first["nodes"], other["inputs"] + other["nodes"]):
            if a["name"] != b["name"] or a.get("target") != b.get("target"):
                raise CaptureError(f"{what}%{a['name']} is {a.get('target', 'an input')} there, but %{b['name']} is "
                                   f"{b.get('target', 'an input')} here: the ranks run different programs")
            if a.get("shape") != b.get("shape") or a.get("out") != b.get("out"):
                raise CaptureError(f"{what}%{a['name']} has shape {a.get('shape', a.get('out'))} there and "
                                   f"{b.get('shape', b.get('out'))} here: shards of unequal sizes are not captured")
        if len(first["nodes"]) != len(other["nodes"]):
            raise CaptureError(f"{what}{len(other['nodes'])} operations, not {len(first['nodes'])}")
    out = {key: value for key, value in first.items() if key not in ("groups", "rank", "nodes")}
    out["nodes"] = []
    for nodes in zip(*(r["nodes"] for r in records)):
        node = dict(nodes[0])
        if node["target"].startswith(("_c10d_functional", "_dtensor")):
            args = []
            for column in zip(*(n["args"] for n in nodes)):
                named = [r["groups"].get(v) if isinstance(v, str) else None for r, v in zip(records, column)]
                members = sorted({tuple(m) for m in named if m})
                args.append({"groups": [list(m) for m in members]} if members else _merge(list(column)))
            node["args"] = args
        else:
            node["args"] = _merge([n["args"] for n in nodes])
        if "kwargs" in node:
            node["kwargs"] = {k: _merge([n["kwargs"].get(k) for n in nodes]) for k in node["kwargs"]}
        out["nodes"].append(node)
    sources = {}   # each once, in order
    for node in out["nodes"]:
        if "source" in node:
            key = tuple(node["source"].items())
            node["source"] = sources.setdefault(key, len(sources))
    return dict(out, sources=[dict(key) for key in sources])


class _Graph:
    """A merged record as a list of instructions."""

    def __init__(self, record):
        self.record = record
        self.mesh = [tuple(axis) for axis in record["mesh"]]
        self.axes = [name for name, _ in self.mesh]
        self.sizes = dict(self.mesh)
        self.world = record["world_size"]
        self.device_ids = record["device_ids"]
        self.instrs, self.cells, self.used, self.unknown, self.waited = [], {}, set(), {}, set()
        self.inputs, self.outputs = [], []
        self.source, self.phase, self.node = None, "forward", None
        self.rank_number = None
        self._read_inputs()
        for node in record["nodes"]:
            self._read_node(node)
        if self.unknown:
            lines = [f"  {name}: {count} x, first at {place}" for name, (count, place) in sorted(self.unknown.items())]
            raise CaptureError("operations that have no counterpart here:\n" + "\n".join(lines))
        self._read_outputs()
        self._drop_unused()

    def unique(self, name):
        name = "".join(c if c.isalnum() or c in "._" else "_" for c in name)
        out, n = name, 0
        while out in self.used:
            n += 1
            out = f"{name}_{n}"
        self.used.add(out)
        return out

    # Inputs and outputs.

    def stacked(self, entry, varies):
        """The axes along which a tensor has different values although its layout does not name them."""
        return [axis for axis in self.axes if axis in varies and axis not in entry.get("axes", [])]

    def layout(self, entry, varies):
        """`shard<...>` of a captured tensor: its global shape and which axes cut which dimension. A tensor that is not
        a DTensor but differs between ranks is stacked along dimension 0."""
        shape = list(entry.get("global_shape", entry["shape"]))
        dims = [[] for _ in shape]
        unreduced, kind = [], "sum"
        placements = list(zip(entry.get("axes", []), entry.get("placements", [])))
        for axis, placement in reversed(placements):
            if placement[0] == "S":
                dims[placement[1]].insert(0, axis)
            elif placement[0] == "SS":   # cut after the axes whose sizes multiply to the split factor
                at, product = 0, 1
                while product < placement[2] and at < len(dims[placement[1]]):
                    product *= self.sizes[dims[placement[1]][at]]
                    at += 1
                dims[placement[1]].insert(at, axis)
            elif placement[0] == "P":
                if placement[1] not in ("sum", "max", "min", "product"):
                    raise CaptureError(f"{entry['name']} is Partial({placement[1]}), which is not supported")
                kind = {"product": "prod"}.get(placement[1], placement[1])
                unreduced.insert(0, axis)
        stacked = self.stacked(entry, varies)
        if stacked:
            if not shape:
                shape, dims = [1], [[]]
            for axis in stacked:
                shape[0] *= self.sizes[axis]
            dims[0] = stacked + dims[0]
        local = []
        for size, axes in zip(shape, dims):
            parts = _count([self.sizes[a] for a in axes])
            if size % parts:
                raise CaptureError(f"{entry['name']} has {size} elements along a dimension that is cut in {parts}: shards of "
                                   "unequal sizes are not captured")
            local.append(size // parts)
        if _count(local) != _count(entry["shape"]):
            raise CaptureError(f"{entry['name']}: a local shape of {entry['shape']} does not follow from {shape} {dims}")
        text = "x".join([str(n) for n in shape] + [entry["dtype"]])
        cut = "[" + ", ".join("{" + ", ".join(axes) + "}" for axes in dims) + "]"
        if unreduced:
            cut += ", unreduced=" + ("" if kind == "sum" else kind) + "{" + ", ".join(unreduced) + "}"
        return f"shard<{text}, @mesh, {cut}>"

    def _read_inputs(self):
        for entry in self.record["inputs"]:
            varies = set(entry.get("varies", []))
            for axis, placement in zip(entry.get("axes", []), entry.get("placements", [])):
                if placement[0] != "R":
                    varies.add(axis)
            value = _Value(self.unique(entry["name"]), entry["dtype"], entry["shape"], None, varies)
            value.port = self.layout(entry, varies)
            self.inputs.append(value)
            self.cells[entry["node"]] = _Cell(value)

    def _read_outputs(self):
        """Each output is the result of an instruction of its own phase."""
        phases = {"loss": "forward", "output": "forward", "gradient": "backward", "parameter": "optimizer", "state": "optimizer"}
        claimed = set()
        for entry in self.record["outputs"]:
            self.phase, self.source = phases[entry["kind"]], None
            value = self.read(entry["node"])
            if value.phase != self.phase or value in claimed or list(value.shape) != list(entry["shape"]):
                value = self.emit("reshape", [value], {"shape": self.numbers(entry["shape"])}, value.dtype, entry["shape"])
            claimed.add(value)
            self.used.discard(value.name)
            value.name = self.unique(entry["name"])
            value.port = self.layout(entry, value.varies)
            value.kind = entry["kind"]
            self.outputs.append(value)

    def _drop_unused(self):
        needed = set(self.outputs)
        kept = []
        for instr in reversed(self.instrs):
            if needed.intersection(instr.results()) or instr.group is not None:
                needed.update(instr.inputs())
                kept.append(instr)
        self.instrs = kept[::-1]

    # Nodes.

    def read(self, name):
        cell = self.cells[name]
        if isinstance(cell, list):
            raise CaptureError(f"%{name} is several tensors, not one")
        return self.current(cell)

    def current(self, cell):
        """The value of a tensor. That of a view is made again if its base has changed since."""
        if cell.base is None:
            return cell.value
        self.current(cell.base)
        if cell.base.version != cell.base_version:
            cell.value = cell.again()
            cell.base_version = cell.base.version
            cell.version += 1
        return cell.value

    def write(self, cell, value):
        """An in-place operation."""
        if cell.base is not None:
            if cell.put_back is None:
                raise CaptureError(f"{self.place()}: an in-place operation on a view of another shape")
            self.write(cell.base, cell.put_back(self.current(cell.base), value))
        cell.value = value
        cell.version += 1
        if cell.base is None:
            return
        cell.base_version = cell.base.version

    def place(self):
        if self.source is None:
            return f"%{self.node['name']}" if self.node else "the outputs"
        return "{file}:{line}".format(**self.source)

    def _read_node(self, node):
        self.node, self.phase = node, node["phase"]
        self.source = self.record["sources"][node["source"]] if "source" in node else None
        target, args, kwargs = node["target"], node["args"], node.get("kwargs", {})
        if target.startswith("profiler.") or target.startswith("aten._assert"):
            return
        if target.startswith(("_c10d_functional", "_dtensor")):
            return _collective(self, node, args)
        if target == "getitem" and not _per_rank(args):
            picked = self.cells.get(args[0]["n"]) if isinstance(args[0], dict) and "n" in args[0] else None
            if isinstance(picked, list) and not _per_rank(args[1]):
                self.cells[node["name"]] = picked[args[1]]
                return
        name = target.split(".")[1] if target.startswith("aten.") else target
        in_place = name.endswith("_") and not name.startswith("_")
        handler = _ATEN.get(name[:-1] if in_place else name)
        if handler is None:
            count, where = self.unknown.get(target, (0, self.place()))
            self.unknown[target] = (count + 1, where)
            outs = node["out"] or [None]
            made = [None if o is None else _Cell(self.value(o["dtype"], o["shape"], ())) for o in outs]
            self.cells[node["name"]] = made if len(made) > 1 else made[0]
            return
        if in_place:
            cell = self.cells[args[0]["n"]]
            self.write(cell, self.cast(handler(self, node, args, kwargs), self.read(args[0]["n"]).dtype))
            self.cells[node["name"]] = cell
            return
        if self._differs(args, name) or any(self._differs(v, name) for v in kwargs.values()):
            return self._choose(node, handler, args, kwargs)
        made = handler(self, node, args, kwargs)
        self._store(node, name, args, made)

    def _store(self, node, name, args, made):
        def again(at=None):
            def make():
                views = _ATEN[name](self, node, args, node.get("kwargs", {}))
                return views if at is None else views[at]
            return make
        if isinstance(made, list):
            base = self.cells[args[0]["n"]] if name in _VIEWS else None
            self.cells[node["name"]] = [m if m is None or isinstance(m, _Cell) else
                                        _Cell(m, base, base and _put_back(self, node, name, args, i), again(i))
                                        for i, m in enumerate(made)]
        elif name in _VIEWS:
            base = self.cells[args[0]["n"]]
            same = made is base.value
            self.cells[node["name"]] = base if same else _Cell(made, base, _put_back(self, node, name, args), again())
        else:
            self.cells[node["name"]] = _Cell(made)

    def _differs(self, argument, name):
        """True if ranks pass different things, other than a number to a pointwise operation."""
        if _per_rank(argument):
            numbers = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in argument["ranks"])
            return not (numbers and name in _POINTWISE)
        return isinstance(argument, list) and any(self._differs(a, name) for a in argument)

    def _choose(self, node, handler, args, kwargs):
        """Where ranks pass different arguments, all variants are computed, and each rank takes its own."""
        variants, chosen = [], []
        for rank in range(self.world):
            mine = (_of_rank(args, rank), {k: _of_rank(v, rank) for k, v in kwargs.items()})
            if mine not in variants:
                variants.append(mine)
            chosen.append(variants.index(mine))
        made = []
        for a, k in variants:
            if node["target"] == "getitem":
                cell = self.cells[a[0]["n"]][a[1]]
                made.append(cell.value)
            else:
                made.append(handler(self, node, a, k))
        shape, dtype = made[0].shape, made[0].dtype
        rows = [self.emit("reshape", [m], {"shape": self.numbers([1] + shape)}, dtype, [1] + shape) for m in made]
        stack = self.emit("concat", rows, {"dim": "0"}, dtype, [len(rows)] + shape)
        index = self.of_ranks(chosen, "i64")
        out = self.emit("take", [stack, index], {"dim": "0"}, dtype, shape)
        self.cells[node["name"]] = _Cell(out)

    # Instructions.

    def value(self, dtype, shape, varies):
        return _Value(self.unique(self.node["name"] if self.node else "v"), dtype, shape, self.phase, varies)

    @staticmethod
    def numbers(values):
        return "[" + ", ".join(str(v) for v in values) + "]"

    def emit(self, op, operands, attributes, dtype, shape, varies=()):
        operands = [self.infinity(o, operands) for o in operands]
        varies = set(varies)
        for v in operands:
            if isinstance(v, _Value):
                varies |= v.varies
        result = self.value(dtype, shape, varies)
        self.instrs.append(_Instr(op, list(operands), dict(attributes), result, self.source))
        return result

    def infinity(self, operand, operands):
        """Only finite numbers are operands in our text."""
        if isinstance(operand, _Value) or not isinstance(operand, float) or abs(operand) < float("inf"):
            return operand
        return self.constant(operand, next(v.dtype for v in operands if isinstance(v, _Value)), [])

    def tensor(self, argument):
        if isinstance(argument, dict) and "n" in argument:
            return self.read(argument["n"])
        raise CaptureError(f"{self.place()}: {self.node['target']} has {argument} where a tensor is expected")

    def is_tensor(self, argument):
        return isinstance(argument, dict) and "n" in argument

    def number(self, argument):
        return float(argument["float"]) if isinstance(argument, dict) and "float" in argument else argument

    def operand(self, argument, dtype):
        """An operand of a pointwise op: a tensor cast to the dtype, a number, or a number for each rank."""
        if self.is_tensor(argument):
            return self.cast(self.tensor(argument), dtype)
        if _per_rank(argument):
            return self.of_ranks([self.number(a) for a in argument["ranks"]], dtype)
        return self.number(argument)

    def cast(self, value, dtype):
        if not isinstance(value, _Value) or value.dtype == dtype:
            return value
        if dtype == "i1":
            return self.emit("compare", [value, 0], {"direction": "ne"}, "i1", value.shape)
        return self.emit("cast", [value], {"to": dtype}, dtype, value.shape)

    def constant(self, number, dtype, shape):
        if dtype == "i1":
            number = int(bool(number))
        return self.emit("constant", [], {"value": _number(number)}, dtype, shape)

    def data(self, numbers, dtype, shape):
        """All elements of a constant."""
        if _count(shape) == 0 or _same(numbers):
            return self.constant(numbers[0] if numbers else 0, dtype, shape)
        text = "[" + " ".join(_number(int(n) if dtype == "i1" else n) for n in numbers) + "]"
        flat = self.emit("constant", [], {"data": f'"{len(numbers)}x{dtype}={text}"'}, dtype, [len(numbers)])
        return self.reshape(flat, shape)

    def of_ranks(self, numbers, dtype):
        """A scalar that differs between ranks: a table, looked up at the rank's position in the mesh."""
        if self.rank_number is None:
            self.rank_number = _Value(self.unique("rank_number"), "i64", [1], None, self.axes)
        position = {rank: i for i, rank in enumerate(self.device_ids)}
        by_position = [None] * self.world
        for rank, number in enumerate(numbers):
            by_position[position[rank]] = number
        table = self.data(by_position, dtype, [self.world])
        picked = self.emit("take", [table, self.rank_number], {"dim": "0"}, dtype, [1])
        picked.varies = frozenset(_differing_axes(self.mesh, by_position))
        return self.reshape(picked, [])

    def reshape(self, value, shape):
        shape = list(shape)
        if -1 in shape:
            rest = _count([n for n in shape if n != -1])
            shape[shape.index(-1)] = _count(value.shape) // rest if rest else 0
        if shape == value.shape:
            return value
        return self.emit("reshape", [value], {"shape": self.numbers(shape)}, value.dtype, shape)

    def broadcast(self, value, shape):
        shape = list(shape)
        if value.shape == shape:
            return value
        lead = len(shape) - len(value.shape)
        dims = self.numbers(range(lead, len(shape)))
        return self.emit("broadcast_in_dim", [value], {"dims": dims, "shape": self.numbers(shape)}, value.dtype, shape)

    def reduce(self, op, value, dims, keep, dtype=None):
        dims = [d % len(value.shape) for d in dims] if value.shape else []
        shape = [1 if i in dims else n for i, n in enumerate(value.shape) if keep or i not in dims]
        if not dims:
            return value
        attributes = {"dims": self.numbers(dims)}
        if keep:
            attributes["keep_dims"] = "true"
        return self.emit(op, [value], attributes, dtype or value.dtype, shape)

    def pointwise(self, op, operands, dtype, shape, attributes=None):
        return self.emit(op, operands, attributes or {}, dtype, shape)


def _number(n):
    if isinstance(n, bool):
        return str(int(n))
    if isinstance(n, int):
        return str(n)
    if n != n:
        return "nan"
    if n in (float("inf"), float("-inf")):
        return "inf" if n > 0 else "-inf"
    return repr(n)


_VIEWS = {"view", "_unsafe_view", "permute", "t", "transpose", "expand", "unsqueeze", "squeeze", "slice", "select", "alias",
          "detach", "split", "split_with_sizes", "chunk", "unbind", "as_strided"}
_ATEN = {}
_POINTWISE = set()


def _aten(*names, pointwise=False):
    def register(handler):
        for name in names:
            _ATEN[name] = handler
            if pointwise:
                _POINTWISE.add(name)
        return handler
    return register


def _out(node, index=0):
    return node["out"][index]["dtype"], node["out"][index]["shape"]


def _dims_of(argument, rank):
    if argument is None or argument == []:
        return list(range(rank))
    return [d % rank if rank else 0 for d in (argument if isinstance(argument, list) else [argument])]


def _wider(a, b):
    """The dtype in which two tensors are compared."""
    if a == b:
        return a
    for group in (_FLOATS, _INTS):
        if a in group or b in group:
            if a in group and b in group:
                return a if group[a] >= group[b] else b
            return a if a in group else b
    return a


def _binary(op):
    def handler(g, node, args, kwargs):
        dtype, shape = _out(node)
        a, b = g.operand(args[0], dtype), g.operand(args[1], dtype)
        alpha = kwargs.get("alpha", args[2] if len(args) > 2 and isinstance(args[2], (int, float)) else 1)
        if alpha != 1:
            b = g.pointwise("mul", [b, alpha], dtype, b.shape) if isinstance(b, _Value) else b * alpha
        rounding = "floor" if node["target"].startswith("aten.floor_divide") else kwargs.get("rounding_mode")
        if rounding == "floor" and dtype not in _FLOATS:
            a = g.pointwise("sub", [a, _remainder(g, node, args, {})], dtype, shape)
        name = {"mul": "logical_and", "add": "logical_or"}.get(op, op) if dtype == "i1" else op
        out = g.pointwise(name, [a, b], dtype, shape)
        if rounding == "floor" and dtype in _FLOATS:
            out = g.pointwise("floor", [out], dtype, shape)
        elif rounding == "trunc" and dtype in _FLOATS:
            size = g.pointwise("floor", [g.pointwise("abs", [out], dtype, shape)], dtype, shape)
            out = g.pointwise("mul", [g.pointwise("sign", [out], dtype, shape), size], dtype, shape)
        return out
    return handler


for _theirs, _ours in (("add", "add"), ("sub", "sub"), ("mul", "mul"), ("div", "div"), ("pow", "pow"), ("maximum", "maximum"),
                       ("minimum", "minimum"), ("fmod", "rem"), ("floor_divide", "div")):
    _aten(_theirs, pointwise=True)(_binary(_ours))


@_aten("rsub", pointwise=True)
def _rsub(g, node, args, kwargs):
    return _binary("sub")(g, node, [args[1], args[0]], kwargs)


@_aten("remainder", pointwise=True)
def _remainder(g, node, args, kwargs):
    """As Python's %: the sign of the divisor."""
    dtype, shape = _out(node)
    a, b = g.operand(args[0], dtype), g.operand(args[1], dtype)
    quotient = g.pointwise("floor", [g.pointwise("div", [a, b], dtype, shape)], dtype, shape) if dtype in _FLOATS else None
    if quotient is not None:
        return g.pointwise("sub", [a, g.pointwise("mul", [quotient, b], dtype, shape)], dtype, shape)
    once = g.pointwise("rem", [a, b], dtype, shape)
    return g.pointwise("rem", [g.pointwise("add", [once, b], dtype, shape), b], dtype, shape)


def _comparison(direction):
    def handler(g, node, args, kwargs):
        a = g.tensor(args[0])
        dtype = a.dtype
        if g.is_tensor(args[1]):
            dtype = _wider(a.dtype, g.tensor(args[1]).dtype)
        elif isinstance(g.number(args[1]), float) and a.dtype not in _FLOATS:
            dtype = "f32"
        if dtype == "i1":
            dtype = "u8"
        return g.pointwise("compare", [g.cast(a, dtype), g.operand(args[1], dtype)], "i1", node["out"][0]["shape"],
                           {"direction": direction})
    return handler


for _direction in ("eq", "ne", "lt", "le", "gt", "ge"):
    _aten(_direction, pointwise=True)(_comparison(_direction))


def _logical(op):
    def handler(g, node, args, kwargs):
        return g.pointwise(op, [g.operand(a, "i1") for a in args], "i1", node["out"][0]["shape"])
    return handler


for _name in ("logical_and", "logical_or", "logical_not"):
    _aten(_name, pointwise=True)(_logical(_name))


def _bitwise(op):
    def handler(g, node, args, kwargs):
        dtype, shape = _out(node)
        if dtype == "i1" and op == "bit_xor":
            both = [g.cast(g.operand(a, "i1"), "u8") for a in args]
            return g.pointwise("compare", both, "i1", shape, {"direction": "ne"})
        name = {"bit_and": "logical_and", "bit_or": "logical_or", "bit_not": "logical_not"}[op] if dtype == "i1" else op
        return g.pointwise(name, [g.operand(a, dtype) for a in args], dtype, shape)
    return handler


for _name, _op in (("bitwise_and", "bit_and"), ("bitwise_or", "bit_or"), ("bitwise_xor", "bit_xor"), ("bitwise_not", "bit_not")):
    _aten(_name, pointwise=True)(_bitwise(_op))
_aten("logical_xor", pointwise=True)(_bitwise("bit_xor"))


def _unary(op):
    def handler(g, node, args, kwargs):
        dtype, shape = _out(node)
        return g.pointwise(op, [g.cast(g.tensor(args[0]), dtype)], dtype, shape)
    return handler


for _name in ("neg", "abs", "sign", "floor", "exp", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "erf", "sigmoid", "relu", "silu"):
    _aten(_name)(_unary(_name))


def _formula(*steps):
    """Pointwise operations one after another: (op, other operand or None)."""
    def handler(g, node, args, kwargs):
        dtype, shape = _out(node)
        value = g.cast(g.tensor(args[0]), dtype)
        for op, operands in steps:
            value = g.pointwise(op, [value if o is None else o for o in operands], dtype, shape)
        return value
    return handler


_aten("reciprocal")(_formula(("div", [1.0, None])))
_aten("square")(_formula(("mul", [None, None])))
_aten("ceil")(_formula(("neg", [None]), ("floor", [None]), ("neg", [None])))
_aten("log2")(_formula(("log", [None]), ("div", [None, 0.6931471805599453])))
_aten("tan")(lambda g, n, a, k: g.pointwise("div", [_unary("sin")(g, n, a, k), _unary("cos")(g, n, a, k)], *_out(n)))


class _Real:
    """Pointwise arithmetic in one dtype, so that formulas read as such."""

    def __init__(self, g, value):
        self.g, self.value = g, value

    def of(self, op, *others, dtype=None, **attributes):
        operands = [o.value if isinstance(o, _Real) else o for o in others]
        if not any(isinstance(o, _Value) for o in operands):
            operands[0] = self.g.constant(operands[0], self.value.dtype, self.value.shape)
        shape = max((o.shape for o in operands if isinstance(o, _Value)), key=lambda s: (_count(s), len(s)))
        return _Real(self.g, self.g.pointwise(op, operands, dtype or self.value.dtype, shape, attributes))

    def __add__(self, other):
        return self.of("add", self, other)

    def __sub__(self, other):
        return self.of("sub", self, other)

    def __rsub__(self, other):
        return self.of("sub", other, self)

    def __mul__(self, other):
        return self.of("mul", self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other):
        return self.of("div", self, other)

    def __rtruediv__(self, other):
        return self.of("div", other, self)

    def __neg__(self):
        return self.of("neg", self)

    def __getattr__(self, op):
        if op not in ("exp", "log", "sqrt", "abs", "sign", "sin", "cos", "tanh", "erf"):
            raise AttributeError(op)
        return lambda: self.of(op, self)

    def below(self, bound):
        return self.of("compare", self, bound, dtype="i1", direction="lt")

    def equals(self, number):
        return self.of("compare", self, number, dtype="i1", direction="eq")

    def choose(self, pred, yes, no):
        """`yes` where the predicate holds, else `no`; one may be a number."""
        shape = self.value.shape
        both = [b if isinstance(b, _Real) else _Real(self.g, self.g.constant(float(b), self.value.dtype, [])) for b in (yes, no)]
        branches = [self.g.broadcast(b.value, shape) for b in both]
        return _Real(self.g, self.g.emit("select", [self.g.broadcast(pred.value, shape), *branches], {}, self.value.dtype, shape))

    def expm1(self):
        """2 t / (1 - t) with t = tanh(x / 2), which is accurate near 0; the plain form above 1."""
        t = (self * 0.5).tanh()
        return self.choose(self.abs().below(1.0), (t + t) / (1.0 - t), self.exp() - 1.0)

    def log1p(self):
        """x log(u) / (u - 1) with u = 1 + x rounded, which is accurate near 0; x where u is 1."""
        u = self + 1.0
        near = self.choose(u.equals(1.0), self, u.log() * self / (u - 1.0))
        return self.choose(self.abs().below(1.0), near, u.log())

    def angle(self, x):
        """The angle of (x, self), by a polynomial on [-tan(pi / 8), tan(pi / 8)] (Cephes); in f64 a step of Newton's
        method follows."""
        pi = 3.141592653589793
        size_x, size_y = x.abs(), self.abs()
        steep = size_x.below(size_y)
        low, high = self.choose(steep, size_x, size_y), self.choose(steep, size_y, size_x)
        t = self.choose(high.equals(0.0), 0.0, low / high)
        wide = self.of("compare", t, 0.41421356237309503, dtype="i1", direction="gt")
        u = self.choose(wide, (t - 1.0) / (t + 1.0), t)
        z = u * u
        tail = ((z * 8.05374449538e-2 - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1
        out = tail * z * u + u + self.choose(wide, pi / 4, 0.0)
        if self.value.dtype == "f64":
            out = out + (t * out.cos() - out.sin()) / (out.cos() + t * out.sin())
        out = self.choose(steep, pi / 2 - out, out)
        out = self.choose(x.below(0.0), pi - out, out)
        return self.choose(self.below(0.0), -out, out)


def _function(name, how, operands=1):
    """A handler that computes a real function of one or two tensors or numbers, 16-bit floats in f32."""
    def handler(g, node, args, kwargs):
        dtype, shape = _out(node)
        wide = "f32" if _FLOATS.get(dtype, 4) < 4 else dtype
        values = []
        for a in args[:operands]:
            value = g.operand(a, wide)
            if not isinstance(value, _Value):
                value = g.constant(value, wide, [])
            values.append(_Real(g, g.broadcast(value, shape)))
        return g.cast(how(*values).value, dtype)
    _aten(name)(handler)


def _sinh(x):
    t = x.abs().expm1()
    return x.sign() * (t + x.choose(t.below(1.0), t / (t + 1.0), 1.0 - 1.0 / (t + 1.0))) * 0.5


def _hypot(x, y):
    low, high = x.of("minimum", x.abs(), y.abs()), x.of("maximum", x.abs(), y.abs())
    ratio = x.choose(high.equals(0.0), 0.0, low / high)
    return high * (ratio * ratio + 1.0).sqrt()


def _logaddexp(x, y):
    high = x.of("maximum", x, y)
    return x.choose((x - y).abs().below(float("inf")), high + (-(x - y).abs()).exp().log1p(), high)


_function("log1p", lambda x: x.log1p())
_function("expm1", lambda x: x.expm1())
_function("sinh", _sinh)
_function("cosh", lambda x: (x.exp() + (-x).exp()) * 0.5)
_function("asinh", lambda x: x.sign() * (x.abs() + x * x / ((x * x + 1.0).sqrt() + 1.0)).log1p())
_function("acosh", lambda x: ((x - 1.0) + ((x - 1.0) * (x + 1.0)).sqrt()).log1p())
_function("atanh", lambda x: (x.log1p() - (-x).log1p()) * 0.5)
_function("atan", lambda x: x.angle(x * 0.0 + 1.0))
_function("atan2", lambda y, x: y.angle(x), 2)
_function("asin", lambda x: x.angle(((1.0 - x) * (x + 1.0)).sqrt()))
_function("acos", lambda x: ((1.0 - x) * (x + 1.0)).sqrt().angle(x))
_function("erfc", lambda x: 1.0 - x.erf())
_function("exp2", lambda x: (x * 0.6931471805599453).exp())
_function("log10", lambda x: x.log() / 2.302585092994046)
_function("hypot", _hypot, 2)
_function("logaddexp", _logaddexp, 2)


@_aten("gelu")
def _gelu(g, node, args, kwargs):
    how = {"approximate": "tanh"} if kwargs.get("approximate", "none") == "tanh" else {}
    return g.emit("gelu", [g.tensor(args[0])], how, *_out(node))


@_aten("isnan")
def _isnan(g, node, args, kwargs):
    x = g.tensor(args[0])
    return g.pointwise("compare", [x, x], "i1", x.shape, {"direction": "ne"})


@_aten("isinf")
def _isinf(g, node, args, kwargs):
    x = g.tensor(args[0])
    size = g.pointwise("abs", [x], x.dtype, x.shape)
    return g.pointwise("compare", [size, float("inf")], "i1", x.shape, {"direction": "eq"})


@_aten("where")
def _where(g, node, args, kwargs):
    dtype, shape = _out(node)
    branches = [g.operand(a, dtype) for a in args[1:]]
    branches = [b if isinstance(b, _Value) else g.constant(b, dtype, []) for b in branches]
    return g.emit("select", [g.broadcast(g.operand(args[0], "i1"), shape)] + [g.broadcast(b, shape) for b in branches], {}, dtype,
                  shape)


@_aten("masked_fill")
def _masked_fill(g, node, args, kwargs):
    return _where(g, node, [args[1], args[2], args[0]], {})


@_aten("clamp", "clamp_min", "clamp_max", "hardtanh", pointwise=True)
def _clamp(g, node, args, kwargs):
    dtype, shape = _out(node)
    low, high = kwargs.get("min"), kwargs.get("max")
    rest = args[1:]
    if node["target"].startswith("aten.hardtanh"):  # a call leaves out arguments that have their defaults
        low, high = (*rest, *(-1, 1)[len(rest):])
    elif node["target"].startswith("aten.clamp_max"):
        high = rest[0]
    else:
        low, high = rest[0] if rest else low, rest[1] if len(rest) > 1 else high
    out = g.operand(args[0], dtype)
    for op, bound in (("maximum", low), ("minimum", high)):
        if bound is not None:
            out = g.pointwise(op, [out, g.operand(bound, dtype)], dtype, shape)
    return out


@_aten("lerp")
def _lerp(g, node, args, kwargs):
    dtype, shape = _out(node)
    start, end, weight = (g.operand(a, dtype) for a in args)
    step = g.pointwise("mul", [g.pointwise("sub", [end, start], dtype, shape), weight], dtype, shape)
    return g.pointwise("add", [start, step], dtype, shape)


def _add_product(op):
    def handler(g, node, args, kwargs):
        dtype, shape = _out(node)
        base, a, b = (g.operand(x, dtype) for x in args[:3])
        part = g.pointwise(op, [a, b], dtype, shape)
        if kwargs.get("value", 1) != 1:
            part = g.pointwise("mul", [part, kwargs["value"]], dtype, shape)
        return g.pointwise("add", [base, part], dtype, shape)
    return handler


_aten("addcmul")(_add_product("mul"))
_aten("addcdiv")(_add_product("div"))


# Constants.

@_aten("constant")
def _constant(g, node, args, kwargs):
    return g.data([g.number(n) for n in args[0]], *_out(node))


def _filled(at):
    def handler(g, node, args, kwargs):
        number = at if isinstance(at, (int, float)) else args[at[0]]
        if g.is_tensor(number) or _per_rank(number):
            return g.broadcast(g.operand(number, node["out"][0]["dtype"]), node["out"][0]["shape"])
        return g.constant(g.number(number), *_out(node))
    return handler


for _name in ("zeros", "zeros_like", "new_zeros", "empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "zero"):
    _aten(_name)(_filled(0))
for _name in ("ones", "ones_like", "new_ones"):
    _aten(_name)(_filled(1))
for _name in ("full", "full_like", "fill"):
    _aten(_name)(_filled([1]))
_aten("new_full")(_filled([2]))
_aten("scalar_tensor")(_filled([0]))


@_aten("arange")
def _arange(g, node, args, kwargs):
    dtype, shape = _out(node)
    numbers = [g.number(a) for a in args]
    start, step = (0, 1) if len(numbers) < 2 else (numbers[0], numbers[2] if len(numbers) > 2 else 1)
    out = g.emit("iota", [], {"dim": "0"}, dtype, shape)
    if step != 1:
        out = g.pointwise("mul", [out, step], dtype, shape)
    return out if start == 0 else g.pointwise("add", [out, start], dtype, shape)


def _triangle(direction):
    def handler(g, node, args, kwargs):
        dtype, shape = _out(node)
        x = g.tensor(args[0])
        diagonal = args[1] if len(args) > 1 else kwargs.get("diagonal", 0)
        rows = g.emit("iota", [], {"dim": str(len(shape) - 2)}, "i64", shape)
        columns = g.emit("iota", [], {"dim": str(len(shape) - 1)}, "i64", shape)
        apart = g.pointwise("sub", [columns, rows], "i64", shape)
        inside = g.pointwise("compare", [apart, diagonal], "i1", shape, {"direction": direction})
        return g.emit("select", [inside, x, g.constant(0, dtype, shape)], {}, dtype, shape)
    return handler


_aten("tril")(_triangle("le"))
_aten("triu")(_triangle("ge"))


# Shapes.

@_aten("alias", "detach", "clone", "contiguous", "lift_fresh_copy", "lift_fresh", "positive")
def _identity(g, node, args, kwargs):
    return g.tensor(args[0])


@_aten("_to_copy", "to")
def _to_copy(g, node, args, kwargs):
    return g.cast(g.tensor(args[0]), node["out"][0]["dtype"])


@_aten("copy")
def _copy(g, node, args, kwargs):
    dtype, shape = _out(node)
    return g.broadcast(g.operand(args[1], dtype), shape)


@_aten("view", "reshape", "_unsafe_view", "flatten", "squeeze", "unsqueeze", "view_as")
def _view(g, node, args, kwargs):
    return g.reshape(g.cast(g.tensor(args[0]), node["out"][0]["dtype"]), node["out"][0]["shape"])


def _order(node, args, rank):
    """The permutation of aten.permute, aten.transpose or aten.t."""
    order = list(range(rank))
    if node["target"].startswith("aten.permute"):
        order = [d % rank for d in args[1]]
    elif node["target"].startswith("aten.transpose"):
        a, b = args[1] % rank, args[2] % rank
        order[a], order[b] = order[b], order[a]
    else:
        order.reverse()
    return order


@_aten("permute", "t", "transpose", "numpy_T")
def _permute(g, node, args, kwargs):
    x = g.tensor(args[0])
    order = _order(node, args, len(x.shape))
    if order == sorted(order):
        return x
    return g.emit("transpose", [x], {"permutation": g.numbers(order)}, *_out(node))


def _places(args):
    """Where the elements of aten.as_strided lie in memory."""
    places = [args[3] if len(args) > 3 and args[3] else 0]
    for size, stride in zip(args[1], args[2]):
        places = [p + i * stride for p in places for i in range(size)]
    return places


@_aten("as_strided")
def _as_strided(g, node, args, kwargs):
    """Elements at these distances in memory. record() has checked that the tensor fills its memory in order."""
    dtype, shape = _out(node)
    x = g.tensor(args[0])
    places = _places(args)
    flat = g.reshape(x, [_count(x.shape)])
    if places == list(range(_count(x.shape))):
        return g.reshape(flat, shape)
    index = g.data(places, "i64", [len(places)])
    return g.reshape(g.emit("take", [flat, index], {"dim": "0"}, dtype, [len(places)]), shape)


@_aten("expand", "expand_as", "broadcast_to")
def _expand(g, node, args, kwargs):
    return g.broadcast(g.tensor(args[0]), node["out"][0]["shape"])


@_aten("repeat")
def _repeat(g, node, args, kwargs):
    x = g.tensor(args[0])
    counts = args[1]
    x = g.reshape(x, [1] * (len(counts) - len(x.shape)) + x.shape)
    for dim, count in enumerate(counts):
        if count > 1:
            shape = x.shape[:dim] + [x.shape[dim] * count] + x.shape[dim + 1:]
            x = g.emit("concat", [x] * count, {"dim": str(dim)}, x.dtype, shape)
    return x


def _box(g, x, dim, start, limit, step=1):
    """x[start:limit:step] along a dimension, with Python's rules for bounds."""
    size = x.shape[dim]
    start, limit, step = slice(start, limit, step).indices(size)
    limit = max(start, limit)
    if (start, limit, step) == (0, size, 1):
        return x
    starts, limits, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
    starts[dim], limits[dim], steps[dim] = start, limit, step
    shape = list(x.shape)
    shape[dim] = -(-(limit - start) // step)
    attributes = {"start": g.numbers(starts), "limit": g.numbers(limits)}
    if step != 1:
        attributes["stride"] = g.numbers(steps)
    return g.emit("slice", [x], attributes, x.dtype, shape)


@_aten("slice")
def _slice(g, node, args, kwargs):
    x = g.tensor(args[0])
    dim, start, limit, step = (list(args[1:]) + [0, None, None, 1][len(args) - 1:])[:4]
    return _box(g, x, dim % len(x.shape), start, limit, step)


@_aten("select")
def _select(g, node, args, kwargs):
    x = g.tensor(args[0])
    dim = args[1] % len(x.shape)
    at = args[2] % x.shape[dim]
    return g.reshape(_box(g, x, dim, at, at + 1), node["out"][0]["shape"])


@_aten("split", "split_with_sizes", "chunk", "unbind")
def _split(g, node, args, kwargs):
    x = g.tensor(args[0])
    unbind = node["target"].startswith("aten.unbind")
    at = 1 if unbind else 2
    dim = (args[at] if len(args) > at else kwargs.get("dim", 0)) % len(x.shape)
    out, start = [], 0
    for o in node["out"]:
        size = 1 if unbind else o["shape"][dim]
        out.append(g.reshape(_box(g, x, dim, start, start + size), o["shape"]))
        start += size
    return out


@_aten("getitem")
def _getitem(g, node, args, kwargs):
    raise CaptureError(f"{g.place()}: an element of {args[0]}, which is not a list of tensors")


@_aten("cat")
def _cat(g, node, args, kwargs):
    dtype, shape = _out(node)
    parts = [g.operand(a, dtype) for a in args[0]]
    dim = (args[1] if len(args) > 1 else kwargs.get("dim", 0)) % len(shape)
    parts = [p for p in parts if p.shape != [0] or len(shape) == 1]
    return g.emit("concat", parts, {"dim": str(dim)}, dtype, shape) if len(parts) > 1 else parts[0]


@_aten("stack")
def _stack(g, node, args, kwargs):
    dtype, shape = _out(node)
    dim = (args[1] if len(args) > 1 else kwargs.get("dim", 0)) % len(shape)
    one = shape[:dim] + [1] + shape[dim + 1:]
    parts = [g.reshape(g.operand(a, dtype), one) for a in args[0]]
    return g.emit("concat", parts, {"dim": str(dim)}, dtype, shape) if len(parts) > 1 else parts[0]


@_aten("flip")
def _flip(g, node, args, kwargs):
    x = g.tensor(args[0])
    return g.emit("reverse", [x], {"dims": g.numbers(_dims_of(args[1], len(x.shape)))}, x.dtype, x.shape)


@_aten("roll")
def _roll(g, node, args, kwargs):
    """Without dimensions, the elements roll in row-major order."""
    x = g.tensor(args[0])
    shifts = args[1] if isinstance(args[1], list) else [args[1]]
    dims = args[2] if len(args) > 2 else kwargs.get("dims")
    shape = x.shape
    if dims in (None, []):
        x, dims = g.reshape(x, [_count(shape)]), [0]
    for shift, dim in zip(shifts, _dims_of(dims, len(x.shape))):
        x = g.emit("roll", [x], {"shift": str(g.number(shift)), "dim": str(dim)}, x.dtype, x.shape)
    return g.reshape(x, shape)


@_aten("constant_pad_nd")
def _pad(g, node, args, kwargs):
    x = g.tensor(args[0])
    low, high = [0] * len(x.shape), [0] * len(x.shape)
    for i in range(0, len(args[1]), 2):
        low[-1 - i // 2], high[-1 - i // 2] = args[1][i], args[1][i + 1]
    attributes = {"low": g.numbers(low), "high": g.numbers(high)}
    value = g.number(args[2]) if len(args) > 2 else 0
    if value:
        attributes["value"] = _number(value)
    return g.emit("pad", [x], attributes, *_out(node))


def _put_back(g, node, name, args, at=0):
    """How a view's new value returns to its base; None where elements of the base occur several times in the view."""
    if name in ("view", "_unsafe_view", "squeeze", "unsqueeze"):
        return lambda base, value: g.reshape(value, base.shape)
    if name in ("permute", "t", "transpose"):
        order = _order(node, args, len(g.tensor(args[0]).shape))
        back = sorted(range(len(order)), key=order.__getitem__)
        return lambda base, value: g.emit("transpose", [value], {"permutation": g.numbers(back)}, base.dtype, base.shape)
    if name in ("slice", "select"):
        return lambda base, value: _replaced(g, base, value, *_range_of(name, base.shape, args[1:]))
    if name == "as_strided":
        places = _places(args)
        if len(set(places)) < len(places):
            return None
        def put(base, value):
            flat, count = g.reshape(base, [_count(base.shape)]), len(places)
            if places == list(range(_count(base.shape))):
                return g.reshape(value, base.shape)
            index = g.data(places, "i64", [count])
            out = g.emit("put", [g.reshape(value, [count]), index, flat], {"dim": "0", "mode": "set"}, base.dtype, flat.shape)
            return g.reshape(out, base.shape)
        return put
    if name in ("split", "split_with_sizes", "chunk", "unbind"):
        place = 1 if name == "unbind" else 2
        rank = len(g.tensor(args[0]).shape)
        dim = (args[place] if len(args) > place else node.get("kwargs", {}).get("dim", 0)) % rank
        sizes = [1 if name == "unbind" else o["shape"][dim] for o in node["out"]]
        start = sum(sizes[:at])
        return lambda base, value: _replaced(g, base, value, dim, start, start + sizes[at], 1)
    return None


def _range_of(name, shape, rest):
    """Dimension, start, limit and step of aten.slice or aten.select."""
    if name == "select":
        dim = rest[0] % len(shape)
        start = rest[1] % shape[dim]
        return dim, start, start + 1, 1
    dim, start, limit, step = (list(rest) + [0, None, None, 1][len(rest):])[:4]
    dim %= len(shape)
    return (dim, *slice(start, limit, step).indices(shape[dim]))


@_aten("slice_scatter", "select_scatter")
def _slice_scatter(g, node, args, kwargs):
    base, part = g.tensor(args[0]), g.tensor(args[1])
    name = "select" if node["target"].startswith("aten.select") else "slice"
    return _replaced(g, base, part, *_range_of(name, base.shape, args[2:]))


def _replaced(g, base, part, dim, start, limit, step):
    """The base with base[start:limit:step] along a dimension replaced."""
    places = range(start, limit, step)
    part = g.reshape(part, base.shape[:dim] + [len(places)] + base.shape[dim + 1:])
    if step != 1:
        index = g.data(list(places), "i64", [len(places)])
        return g.emit("put", [part, index, base], {"dim": str(dim), "mode": "set"}, base.dtype, base.shape)
    parts = [_box(g, base, dim, 0, start), part, _box(g, base, dim, limit, base.shape[dim])]
    parts = [p for p in parts if p.shape[dim]]
    return g.emit("concat", parts, {"dim": str(dim)}, base.dtype, base.shape) if len(parts) > 1 else parts[0]


# Reductions.

def _reduction(op):
    def handler(g, node, args, kwargs):
        dtype, _ = _out(node)
        x = g.cast(g.tensor(args[0]), dtype)
        dims = _dims_of(args[1] if len(args) > 1 else kwargs.get("dim"), len(x.shape))
        keep = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        return g.reduce(op, x, dims, keep)
    return handler


for _name, _op in (("sum", "reduce_sum"), ("mean", "reduce_mean"), ("amax", "reduce_max"), ("amin", "reduce_min"),
                   ("prod", "reduce_prod")):
    _aten(_name)(_reduction(_op))


def _truth_reduction(op):
    def handler(g, node, args, kwargs):
        x = g.cast(g.cast(g.tensor(args[0]), "i1"), "u8")
        dims = _dims_of(args[1] if len(args) > 1 else kwargs.get("dim"), len(x.shape))
        keep = args[2] if len(args) > 2 else kwargs.get("keepdim", False)
        return g.cast(g.reduce(op, x, dims, keep), "i1")
    return handler


_aten("any")(_truth_reduction("reduce_max"))
_aten("all")(_truth_reduction("reduce_min"))


def _position(g, reduce_op, x, dim):
    """The first index along dim of the largest or smallest element."""
    extreme = g.reduce(reduce_op, x, [dim], True)
    found = g.pointwise("compare", [x, extreme], "i1", x.shape, {"direction": "eq"})
    index = g.emit("iota", [], {"dim": str(dim)}, "i64", x.shape)
    none = g.constant(x.shape[dim], "i64", x.shape)
    return g.reduce("reduce_min", g.emit("select", [found, index, none], {}, "i64", x.shape), [dim], False)


def _extreme(reduce_op, op):
    def handler(g, node, args, kwargs):
        x = g.tensor(args[0])
        if len(args) == 1:
            return g.reduce(reduce_op, x, range(len(x.shape)), False)
        if g.is_tensor(args[1]):
            return _binary(op)(g, node, args, kwargs)
        keep = len(args) > 2 and args[2]
        dim = args[1] % len(x.shape)
        at = g.reshape(_position(g, reduce_op, x, dim), node["out"][1]["shape"])
        return [g.reduce(reduce_op, x, [dim], keep), at]
    return handler


_aten("max")(_extreme("reduce_max", "maximum"))
_aten("min")(_extreme("reduce_min", "minimum"))


@_aten("argmax", "argmin")
def _argmax(g, node, args, kwargs):
    x = g.tensor(args[0])
    dim = args[1] if len(args) > 1 else kwargs.get("dim")
    if dim is None:
        x, dim = g.reshape(x, [_count(x.shape)]), 0
    reduce_op = "reduce_max" if node["target"].startswith("aten.argmax") else "reduce_min"
    return g.reshape(_position(g, reduce_op, x, dim % len(x.shape)), node["out"][0]["shape"])


def _variance(g, x, dims, correction, keep):
    mean = g.reduce("reduce_mean", x, dims, True)
    apart = g.pointwise("sub", [x, mean], x.dtype, x.shape)
    total = g.reduce("reduce_sum", g.pointwise("mul", [apart, apart], x.dtype, x.shape), dims, keep)
    n = _count([x.shape[d] for d in dims])
    return g.pointwise("div", [total, float(max(n - correction, 0))], x.dtype, total.shape), mean


@_aten("var", "std", "var_mean")
def _var(g, node, args, kwargs):
    x = g.tensor(args[0])
    dims = _dims_of(args[1] if len(args) > 1 else kwargs.get("dim"), len(x.shape))
    correction = kwargs.get("correction", 1)
    keep = kwargs.get("keepdim", False)
    out, mean = _variance(g, x, dims, 1 if correction is None else correction, keep)
    if node["target"].startswith("aten.std"):
        return g.pointwise("sqrt", [out], out.dtype, out.shape)
    return [out, g.reshape(mean, out.shape)] if node["target"].startswith("aten.var_mean") else out


@_aten("linalg_vector_norm")
def _vector_norm(g, node, args, kwargs):
    dtype, shape = _out(node)
    order, dims, keep = (list(args[1:]) + [2, None, False][len(args) - 1:])[:3]
    x = g.cast(g.tensor(args[0]), dtype)
    dims = _dims_of(dims, len(x.shape))
    size = g.pointwise("abs", [x], dtype, x.shape)
    if g.number(order) == float("inf"):
        return g.reduce("reduce_max", size, dims, keep)
    if order == 1:
        return g.reduce("reduce_sum", size, dims, keep)
    total = g.reduce("reduce_sum", g.pointwise("pow", [size, order], dtype, x.shape), dims, keep)
    return g.pointwise("pow", [total, 1 / order], dtype, shape)


@_aten("cumsum")
def _cumsum(g, node, args, kwargs):
    dtype, shape = _out(node)
    return g.emit("cumsum", [g.cast(g.tensor(args[0]), dtype)], {"dim": str(args[1] % len(shape))}, dtype, shape)


@_aten("cumprod")
def _cumprod(g, node, args, kwargs):
    x = g.cast(g.tensor(args[0]), node["out"][0]["dtype"])
    dim = args[1] % len(x.shape)
    if not 1 <= x.shape[dim] <= 64:
        raise CaptureError(f"{g.place()}: a running product of {x.shape[dim]} elements")
    parts = [_box(g, x, dim, i, i + 1) for i in range(x.shape[dim])]
    for i in range(1, len(parts)):
        parts[i] = g.pointwise("mul", [parts[i - 1], parts[i]], x.dtype, parts[i].shape)
    return g.emit("concat", parts, {"dim": str(dim)}, x.dtype, x.shape)


@_aten("topk", "sort")
def _topk(g, node, args, kwargs):
    x = g.tensor(args[0])
    topk = node["target"].startswith("aten.topk")
    rest = list(args[2 if topk else 1:])
    dim = (rest[0] if rest else kwargs.get("dim", -1)) % len(x.shape)
    largest = rest[1] if len(rest) > 1 else kwargs.get("largest" if topk else "descending", topk)
    values, at = _sorted(g, x, dim, largest)
    values, at = (_box(g, v, dim, 0, node["out"][0]["shape"][dim]) for v in (values, at))
    return [values, g.cast(at, "i64")]


def _sorted(g, x, dim, descending=False):
    """The elements in order along a dimension, and their places as i32."""
    attributes = {"dim": str(dim)}
    if descending:
        attributes["descending"] = "true"
    values = g.emit("sort", [x], attributes, x.dtype, x.shape)
    at = g.value("i32", x.shape, x.varies)
    g.instrs[-1].second = at
    return values, at


@_aten("median")
def _median(g, node, args, kwargs):
    """The lower of the two middle elements if their number is even, with its place."""
    x = g.tensor(args[0])
    if len(args) < 2:
        x, args = g.reshape(x, [_count(x.shape)]), [args[0], 0]
    dim = args[1] % len(x.shape)
    values, at = _sorted(g, x, dim)
    at = g.cast(at, "i64")
    middle = (x.shape[dim] - 1) // 2
    out = [g.reshape(_box(g, v, dim, middle, middle + 1), o["shape"]) for v, o in zip((values, at), node["out"])]
    return out if len(node["out"]) > 1 else out[0]


# Products, normalisation, lookups.

@_aten("mm", "bmm", "matmul", "mv", "dot")
def _mm(g, node, args, kwargs):
    dtype, shape = _out(node)
    a, b = g.tensor(args[0]), g.tensor(args[1])
    if len(b.shape) == 1:
        contract = {"lhs_contracting": f"[{len(a.shape) - 1}]", "rhs_contracting": "[0]"}
        return g.emit("dot_general", [a, b], contract, dtype, shape)
    return g.emit("matmul", [a, b], {}, dtype, shape)


@_aten("addmm", "baddbmm")
def _addmm(g, node, args, kwargs):
    rounded, shape = _out(node)
    dtype = "f32" if _FLOATS.get(rounded, 4) < 4 else rounded   # product and sum are rounded once
    product = g.emit("matmul", [g.cast(g.tensor(a), dtype) for a in args[1:3]], {}, dtype, shape)
    bias = g.cast(g.tensor(args[0]), dtype)
    if kwargs.get("alpha", 1) != 1:
        product = g.pointwise("mul", [product, kwargs["alpha"]], dtype, shape)
    if kwargs.get("beta", 1) == 0:
        return g.cast(product, rounded)
    if kwargs.get("beta", 1) != 1:
        bias = g.pointwise("mul", [bias, kwargs["beta"]], dtype, bias.shape)
    return g.cast(g.pointwise("add", [product, bias], dtype, shape), rounded)


@_aten("native_layer_norm")
def _layer_norm(g, node, args, kwargs):
    x = g.tensor(args[0])
    dims = list(range(len(x.shape) - len(args[1]), len(x.shape)))
    affine = [g.tensor(a) for a in args[2:4] if a is not None]
    if args[2] is None and args[3] is not None:
        raise CaptureError(f"{g.place()}: layer_norm with a bias but no weight")
    wide = g.cast(x, "f32") if _FLOATS[x.dtype] < 4 else x
    variance, mean = _variance(g, wide, dims, 0, True)
    rstd = g.pointwise("rsqrt", [g.pointwise("add", [variance, args[4]], wide.dtype, variance.shape)], wide.dtype, variance.shape)
    out = g.pointwise("sub", [wide, mean], wide.dtype, x.shape)
    out = g.pointwise("mul", [out, rstd], wide.dtype, x.shape)
    for op, factor in zip(("mul", "add"), affine):
        out = g.pointwise(op, [out, g.cast(factor, wide.dtype)], wide.dtype, x.shape)
    return [g.cast(out, x.dtype), g.reshape(g.cast(mean, _out(node, 1)[0]), _out(node, 1)[1]),
            g.reshape(g.cast(rstd, _out(node, 2)[0]), _out(node, 2)[1])]


def _softmax(logarithm):
    def handler(g, node, args, kwargs):
        dtype, shape = _out(node)
        x = g.tensor(args[0])
        wide = "f32" if _FLOATS.get(dtype, 4) < 4 else dtype
        x = g.cast(x, wide)
        dim = [args[1] % len(shape)] if shape else []
        x = g.pointwise("sub", [x, g.reduce("reduce_max", x, dim, True)], wide, shape)
        powers = g.pointwise("exp", [x], wide, shape)
        total = g.reduce("reduce_sum", powers, dim, True)
        if logarithm:
            out = g.pointwise("sub", [x, g.pointwise("log", [total], wide, total.shape)], wide, shape)
        else:
            out = g.pointwise("div", [powers, total], wide, shape)
        return g.cast(out, dtype)
    return handler


_aten("_softmax", "softmax")(_softmax(False))
_aten("_log_softmax", "log_softmax")(_softmax(True))


@_aten("embedding")
def _embedding(g, node, args, kwargs):
    return g.emit("take", [g.tensor(args[0]), g.tensor(args[1])], {"dim": "0"}, *_out(node))


@_aten("index_select")
def _index_select(g, node, args, kwargs):
    dtype, shape = _out(node)
    return g.emit("take", [g.tensor(args[0]), g.tensor(args[2])], {"dim": str(args[1] % len(shape))}, dtype, shape)


@_aten("gather")
def _gather(g, node, args, kwargs):
    x, index = g.tensor(args[0]), g.tensor(args[2])
    dim = args[1] % len(x.shape)
    for d in range(len(x.shape)):
        if d != dim:
            x = _box(g, x, d, 0, index.shape[d])
    return g.emit("take_along", [x, index], {"dim": str(dim)}, *_out(node))


def _scatter_like(mode):
    def handler(g, node, args, kwargs):
        base, index = g.tensor(args[0]), g.tensor(args[2])
        dim = args[1] % len(base.shape)
        if any(index.shape[d] != base.shape[d] for d in range(len(base.shape)) if d != dim):
            raise CaptureError(f"{g.place()}: scatter whose index covers only a part of the other dimensions")
        updates = g.operand(args[3] if len(args) > 3 else kwargs.get("value", kwargs.get("src")), base.dtype)
        if not isinstance(updates, _Value):
            updates = g.constant(updates, base.dtype, index.shape)
        for d in range(len(base.shape)):
            updates = _box(g, updates, d, 0, index.shape[d])
        return g.emit("put_along", [updates, index, base], {"dim": str(dim), "mode": mode}, base.dtype, base.shape)
    return handler


_aten("scatter")(_scatter_like("set"))
_aten("scatter_add")(_scatter_like("add"))


@_aten("index_add")
def _index_add(g, node, args, kwargs):
    base, index, source = g.tensor(args[0]), g.tensor(args[2]), g.tensor(args[3])
    if kwargs.get("alpha", 1) != 1:
        source = g.pointwise("mul", [source, kwargs["alpha"]], source.dtype, source.shape)
    return g.emit("put", [source, index, base], {"dim": str(args[1] % len(base.shape)), "mode": "add"}, base.dtype, base.shape)


def _only_index(g, indices):
    """The single tensor among the indices of a[:, i], and its dimension."""
    found = [(d, g.tensor(i)) for d, i in enumerate(indices) if i is not None]
    if len(found) != 1:
        raise CaptureError(f"{g.place()}: indexing with {len(found)} tensors at once")
    return found[0]


@_aten("index")
def _index(g, node, args, kwargs):
    dim, index = _only_index(g, args[1])
    if index.dtype == "i1":
        raise CaptureError(f"{g.place()}: indexing with a mask has a result whose size is known only at run time")
    x = g.tensor(args[0])
    return g.emit("take", [x, _from_end(g, index, x.shape[dim])], {"dim": str(dim)}, *_out(node))


def _from_end(g, index, size):
    """Negative indices count from the end."""
    below = g.pointwise("compare", [index, 0], "i1", index.shape, {"direction": "lt"})
    return g.emit("select", [below, g.pointwise("add", [index, size], index.dtype, index.shape), index], {}, index.dtype,
                  index.shape)


@_aten("index_put")
def _index_put(g, node, args, kwargs):
    base = g.tensor(args[0])
    dim, index = _only_index(g, args[1])
    updates = g.operand(args[2], base.dtype)
    accumulate = args[3] if len(args) > 3 else kwargs.get("accumulate", False)
    if index.dtype == "i1":
        if _count(updates.shape) != 1 or dim != 0 or accumulate:
            raise CaptureError(f"{g.place()}: storing a tensor through a mask")
        mask = g.reshape(index, index.shape + [1] * (len(base.shape) - len(index.shape)))
        return g.emit("select", [g.broadcast(mask, base.shape), g.broadcast(g.reshape(updates, []), base.shape), base], {},
                      base.dtype, base.shape)
    updates = g.broadcast(updates, base.shape[:dim] + index.shape + base.shape[dim + 1:])
    return g.emit("put", [updates, _from_end(g, index, base.shape[dim]), base],
                  {"dim": str(dim), "mode": "add" if accumulate else "set"}, base.dtype, base.shape)


# --- Collectives ------------------------------------------------------------------------------------------------------

def _collective(g, node, args):
    target = node["target"]
    op = target.split(".")[1]
    if op == "wait_tensor":
        source = g.cells[args[0]["n"]]
        g.cells[node["name"]] = source
        g.waited.add(source.value)
        return
    members = next((a["groups"] for a in args if isinstance(a, dict) and "groups" in a), None)
    if members is None:
        raise CaptureError(f"{g.place()}: {target} names no known group: {args}")
    if sum(len(group) for group in members) < g.world:
        members = _all_groups(g, members[0])
    axes = set(_axes_of(g, members) or g.axes)
    in_place = op.endswith("_")
    op = op.rstrip("_")
    x = g.read(args[0]["n"]) if g.is_tensor(args[0]) else None
    if x is None:
        raise CaptureError(f"{g.place()}: {target}: coalesced collectives are not captured")
    attributes, varies = {}, x.varies | axes
    dtype, shape = _out(node)
    if op in ("all_reduce", "reduce_scatter_tensor"):
        attributes["reduction"] = {"product": "prod"}.get(args[1], args[1])
    if op in ("all_reduce", "all_gather_into_tensor", "broadcast"):
        varies = x.varies - axes
    if op == "broadcast":
        attributes["root"] = str(args[1])
    if op == "all_to_all_single":
        if not (_same(args[1]) and args[1] == args[2]):
            raise CaptureError(f"{g.place()}: all_to_all_single with unequal splits is not captured")
    if op == "shard_dim_alltoall":
        return _shard_dim(g, node, x, args[1], args[2], members, axes)
    ours = {"all_reduce": "all_reduce", "all_gather_into_tensor": "all_gather", "reduce_scatter_tensor": "reduce_scatter",
            "all_to_all_single": "all_to_all", "broadcast": "broadcast"}.get(op)
    if ours is None:
        raise CaptureError(f"{g.place()}: {target} has no counterpart here")
    result = _issue(g, ours, x, attributes, dtype, shape, members, varies)
    if in_place:
        cell = g.cells[args[0]["n"]]
        g.write(cell, result)
        g.cells[node["name"]] = cell
    else:
        g.cells[node["name"]] = _Cell(result)


def _issue(g, op, x, attributes, dtype, shape, members, varies):
    result = g.value(dtype, shape, varies)
    g.instrs.append(_Instr(op, [x], attributes, result, g.source, group=members))
    return result


def _shard_dim(g, node, x, gather_dim, shard_dim, members, axes):
    """Cuts another dimension: the blocks for each member are put one after another, exchanged, and joined."""
    k = len(members[0])
    _, shape = _out(node)
    gather_dim, shard_dim = gather_dim % len(x.shape), shard_dim % len(x.shape)
    if x.shape[shard_dim] % k:
        raise CaptureError(f"{g.place()}: {x.shape[shard_dim]} elements cut in {k}: shards of unequal sizes are not captured")
    split = x.shape[:shard_dim] + [k, x.shape[shard_dim] // k] + x.shape[shard_dim + 1:]
    order = [shard_dim] + [d for d in range(len(split)) if d != shard_dim]
    blocks = g.reshape(x, split)
    if order != sorted(order):
        blocks = g.emit("transpose", [blocks], {"permutation": g.numbers(order)}, x.dtype, [split[d] for d in order])
    block = blocks.shape[1:]
    got = _issue(g, "all_to_all", blocks, {}, x.dtype, blocks.shape, members, x.varies | axes)
    # got: [k, block...]; the k parts belong along gather_dim, before the part's own extent.
    order = list(range(1, gather_dim + 1)) + [0] + list(range(gather_dim + 1, len(block) + 1))
    if order != sorted(order):
        got = g.emit("transpose", [got], {"permutation": g.numbers(order)}, x.dtype, [got.shape[d] for d in order])
    g.cells[node["name"]] = _Cell(g.reshape(got, shape))


def _positions(g, axes):
    """Groups of ranks that differ along these axes only, each in mesh order."""
    strides, stride = {}, 1
    for name, size in reversed(g.mesh):
        strides[name] = (stride, size)
        stride *= size
    groups = {}
    for p in range(g.world):
        key = tuple(p // strides[a][0] % strides[a][1] for a in g.axes if a not in axes)
        groups.setdefault(key, []).append(g.device_ids[p])
    return sorted(groups.values())


def _axes_of(g, members):
    """The axes that groups of ranks run along, if there are such axes."""
    for bits in range(1, 2 ** len(g.axes)):
        axes = [a for i, a in enumerate(g.axes) if bits >> i & 1]
        if _positions(g, axes) == members:
            return axes
    return None


def _all_groups(g, group):
    """All groups of a collective when only one rank's is known."""
    for bits in range(1, 2 ** len(g.axes)):
        axes = [a for i, a in enumerate(g.axes) if bits >> i & 1]
        if group in _positions(g, axes):
            return _positions(g, axes)
    raise CaptureError(f"{g.place()}: group {group} does not run along axes of the mesh: the graphs of all ranks are needed")


# --- Text -------------------------------------------------------------------------------------------------------------

def _type(value):
    return f"tensor<{'x'.join([str(n) for n in value.shape] + [value.dtype])}>"


def _comment(source):
    code = f": {source['code']}" if source.get("code") else ""
    return f"// {source['file']}:{source['line']} in {source['function']}{code}"


class _Text:
    """Kernels and host functions. Operations between two collectives are one kernel."""

    def __init__(self, graph):
        self.graph = graph
        self.kernels, self.functions = [], []
        self.users = {}
        for instr in graph.instrs:
            for value in instr.inputs():
                self.users.setdefault(value, []).append(instr)
        self.phases = [p for p in ("forward", "backward", "optimizer") if any(i.phase == p for i in graph.instrs)]
        self.calls = [self.function(phase) for phase in self.phases]
        if len(self.phases) > 1:
            self.step()

    def text(self):
        g = self.graph
        axes = ", ".join(f"{name}={size}" for name, size in g.mesh)
        ids = "" if g.device_ids == list(range(g.world)) else f", device_ids={g.numbers(g.device_ids)}"
        head = f"//! Captured from PyTorch {g.record['torch']} on {g.world} ranks.\nmesh @mesh = <{axes}{ids}>"
        return "\n\n".join([head] + self.kernels + self.functions) + "\n"

    def instruction(self, instr):
        def operand(o):
            return f"%{o.name}" if isinstance(o, _Value) else _number(o)
        left = ", ".join(f"%{v.name}" for v in instr.results())
        right = ", ".join(operand(o) for o in instr.operands)
        attributes = ", ".join(f"{k} = {v}" for k, v in instr.attributes.items())
        types = ", ".join(_type(v) for v in instr.results())
        return f"{left} = {instr.op}{' ' + right if right else ''}{' {' + attributes + '}' if attributes else ''} : {types}"

    def kernel(self, name, body):
        """Adds a kernel; returns what it reads and writes."""
        made = [v for i in body for v in i.results()]
        inside, members = set(made), set(body)
        reads = []
        for instr in body:
            for v in instr.inputs():
                if v not in inside and v not in reads:
                    reads.append(v)
        writes = [v for v in made if v.port or any(u not in members for u in self.users.get(v, ()))]
        lines, last = [], None
        for instr in body:
            if instr.source and instr.source != last:
                lines.append("  " + _comment(instr.source))
                last = instr.source
            lines.append("  " + self.instruction(instr))

        def ports(values):
            return ", ".join(f"%{v.name}: {_type(v)}" for v in values)
        self.kernels.append(f"kernel @{name}({ports(reads)})\n    -> ({ports(writes)}) {{\n" + "\n".join(lines) +
                            "\n  return " + ", ".join(f"%{v.name}" for v in writes) + "\n}")
        return reads, writes

    def function(self, phase):
        """Writes the host function of a phase. Returns (name, parameters, results)."""
        g = self.graph
        body = [i for i in g.instrs if i.phase == phase]
        own = {v for i in body for v in i.results()}
        params = []
        for instr in body:
            for v in instr.inputs():
                if v not in own and v is not g.rank_number and v not in params:
                    params.append(v)
        params.sort(key=lambda v: (g.inputs.index(v) if v in g.inputs else len(g.inputs)))
        results = [v for v in g.outputs if v in own]
        results += [v for i in body for v in i.results() if v not in results and
                    any(u.phase != phase for u in self.users.get(v, ()))]
        host = _Host(self, phase, params, results)
        pending, waiting = [], {}
        count = 0

        def launch():
            nonlocal pending, count
            if pending:
                name = f"{phase}.k{count}"
                count += 1
                reads, writes = self.kernel(name, pending)
                host.launch(name, reads, writes, pending[0].source)
                pending = []
        for instr in body:
            late = [v for v in instr.inputs() if v in waiting]
            if late and instr.group is None:
                launch()
                for v in late:
                    host.wait(waiting.pop(v))
            if instr.group is not None:
                made = {v for i in pending for v in i.results()}
                if made.intersection(instr.inputs()):
                    launch()
                host.collective(instr)
                if instr.result in g.waited:
                    waiting[instr.result] = instr
            else:
                pending.append(instr)
        launch()
        for instr in body:
            if instr.group is not None and instr not in host.waited:
                host.wait(instr)
        self.functions.append(host.text())
        return phase, params, results

    def step(self):
        """Calls the phases one after another."""
        g = self.graph
        params = g.inputs
        lines = ['  %compute = stream "compute"']
        for at, (name, used, made) in enumerate(self.calls):
            lines.append("  " + ", ".join(f"%{v.name}" for v in made) + f" = call @{name}(" +
                         ", ".join(f"%{v.name}" for v in used) + ")")
            later = {v for _, more, _ in self.calls[at + 1:] for v in more}
            gone = {v for _, _, earlier in self.calls[:at + 1] for v in earlier if v not in later and not v.port}
            for _, _, earlier in self.calls[:at]:   # freed after an earlier call already
                before = {v for _, more, _ in self.calls[at:] for v in more}
                gone -= {v for v in earlier if v not in before}
            lines += [f"  free %{v.name} on %compute" for v in sorted(gone, key=lambda v: v.name)]
        lines.append("  return " + ", ".join(f"%{v.name}" for v in g.outputs))
        self.functions.append(f"host @step on @mesh ({_ports(params)})\n    -> ({_ports(g.outputs)}) {{\n" + "\n".join(lines) + "\n}")


def _ports(values):
    return ",\n    ".join(f"%{v.name}: {v.port or _type(v)}" for v in values)


class _Host:
    """The text of one host function: buffers, streams, communicators, waits, and frees after the last use."""

    def __init__(self, text, name, params, results):
        self.graph, self.name, self.params, self.results = text.graph, name, params, results
        self.items = []      # (lines, values that the lines use)
        self.buffers = {}    # value -> (name of the local buffer, name to free or None)
        self.names = {v.name for v in params + results}
        self.comms, self.events, self.waited = {}, {}, set()
        self.head = ['  %compute = stream "compute"']
        for value in params:
            self.local(value, self.head, None)
        if any(text.graph.rank_number in i.inputs() for i in text.graph.instrs if i.phase == name):
            self.rank_number(text)

    def unique(self, name):
        out, n = name, 0
        while out in self.names:
            n += 1
            out = f"{name}_{n}"
        self.names.add(out)
        return out

    def local(self, value, lines, owned):
        name = value.name
        if value.port:
            name = self.unique(value.name + "_local")
            lines.append(f"  %{name} = reinterpret %{value.name} : {_type(value)}")
        self.buffers[value] = (name, owned)

    def allocate(self, value, stream, lines):
        self.names.add(value.name)
        lines.append(f"  %{value.name} = alloc on %{stream} : {value.port or _type(value)}")
        self.local(value, lines, None if value in self.results else value.name)

    def rank_number(self, text):
        g = self.graph
        kernel = "kernel @rank_number() -> (%rank: tensor<?Nxi64>) {\n  %rank = iota {dim = 0} : tensor<?Nxi64>\n  return %rank\n}"
        if kernel not in text.kernels:
            text.kernels.insert(0, kernel)
        number = g.rank_number
        axes = ", ".join(g.axes)
        name = self.unique(number.name + "s")
        lines = [f"  %{name} = alloc on %compute : shard<{g.world}xi64, @mesh, [{{{axes}}}]>",
                 f"  launch @rank_number wo(%{name}) on %compute",
                 f"  %{number.name} = reinterpret %{name} : tensor<1xi64>"]
        self.buffers[number] = (number.name, name)
        self.items.append((lines, [number]))

    def operands(self, values):
        return ", ".join(f"%{self.buffers[v][0]}" for v in values)

    def launch(self, kernel, reads, writes, source):
        lines = []
        for value in writes:
            self.allocate(value, "compute", lines)
        event = self.unique("done")
        for value in writes:
            self.events[value] = event
        ro = f"ro({self.operands(reads)}) " if reads else ""
        label = f' {{label = "{source["file"]}:{source["line"]}"}}' if source else ""
        lines.append(f"  %{event} = launch @{kernel} {ro}wo({self.operands(writes)}) on %compute{label}")
        self.items.append((lines, reads + writes))

    def collective(self, instr):
        g = self.graph
        axes = _axes_of(g, instr.group)
        over = "over {" + ", ".join(axes) + "}" if axes else "groups [" + ", ".join(
            "[" + ",".join(str(r) for r in group) + "]" for group in instr.group) + "]"
        comm = self.comms.get(over)
        if comm is None:
            comm = self.comms[over] = self.unique(f"c{len(self.comms)}")
        lines = []
        value = instr.operands[0]
        if value in self.events:
            lines.append(f"  wait %{self.events[value]} on %comm")
        self.allocate(instr.result, "comm", lines)
        event = self.unique("sent")
        self.events[instr.result] = self.events[instr] = event
        reduction = " " + instr.attributes["reduction"] if "reduction" in instr.attributes else ""
        root = f" root({instr.attributes['root']})" if "root" in instr.attributes else ""
        if instr.source:
            lines.insert(0, "  " + _comment(instr.source))
        label = f' {{label = "{instr.source["file"]}:{instr.source["line"]}"}}' if instr.source else ""
        lines.append(f"  %{event} = {instr.op}{reduction} %{comm}{root} ro({self.operands([value])}) "
                     f"wo({self.operands([instr.result])}) on %comm{label}")
        self.items.append((lines, [value, instr.result]))

    def wait(self, instr):
        self.waited.add(instr)
        self.items.append(([f"  wait %{self.events[instr]} on %compute"], [instr.operands[0], instr.result]))

    def text(self):
        last = {}
        for at, (_, used) in enumerate(self.items):
            for value in used:
                last[value] = at
        lines = [f"  %{name} = comm {over}" for over, name in self.comms.items()] + self.head[:1]
        if self.comms:
            lines.append('  %comm = stream "comm"')
        lines += self.head[1:]
        for at, (more, used) in enumerate(self.items):
            lines += more
            for value in dict.fromkeys(used):
                name = self.buffers[value][1]
                if last[value] == at and name:
                    lines.append(f"  free %{name} on %compute")
        lines.append("  return " + ", ".join(f"%{v.name}" for v in self.results))
        return (f"host @{self.name} on @mesh ({_ports(self.params)})\n    -> ({_ports(self.results)}) {{\n" +
                "\n".join(lines) + "\n}")


def to_text(record):
    """A merged record as the text of a program."""
    return _Text(_Graph(record)).text()


def main():
    import argparse
    parser = argparse.ArgumentParser(description="Writes a captured graph as a program of the workbench.")
    parser.add_argument("graph", help="NAME.graph.json, written by capture()")
    parser.add_argument("-o", "--output", required=True, help="NAME.hir")
    arguments = parser.parse_args()
    with open(arguments.graph) as file:
        record = json.load(file)
    if not isinstance(record, dict) or record.get("format") != "hostir-fx" or record.get("version") != 1:
        raise SystemExit(f"{arguments.graph}: not a graph of hostir-fx, version 1")
    try:
        text = to_text(record)
    except CaptureError as error:
        raise SystemExit(f"{arguments.graph}: {error}")
    with open(arguments.output, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
