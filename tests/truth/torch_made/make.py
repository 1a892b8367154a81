#!/usr/bin/env python3
"""Captures training steps from PyTorch on four processes (gloo, CPU): make.py FOLDER [CASE...]. Needs torch 2.11.

Each case is a folder with graph.json.gz and in.safetensors, written by hostir_capture.capture, and expected.safetensors:
loss, outputs, gradients and new parameters of the same step of the module that is not sharded, in eager mode. The
sharded module's own eager step is compared with them here.
"""
import datetime
import gzip
import os
import pathlib
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel,
                                               parallelize_module)

for folder in pathlib.Path(__file__).resolve().parents:
    sys.path += [str(folder), str(folder / "hostir/python")]
import hostir_capture  # noqa: E402

WORLD = 4


class MLP(nn.Module):
    def __init__(self, d, hidden):
        super().__init__()
        self.c_fc = nn.Linear(d, hidden)
        self.c_proj = nn.Linear(hidden, d)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))


class Attention(nn.Module):
    """The keys have no bias: softmax does not depend on it, so its gradient would be rounding noise."""

    def __init__(self, d, heads):
        super().__init__()
        self.size = d // heads
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d, bias=False)
        self.v, self.o = nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (f(x).view(b, t, -1, self.size).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(b, t, -1))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(d), Attention(d, heads)
        self.ln2, self.mlp = nn.LayerNorm(d), MLP(d, 4 * d)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary=16, length=8, d=8, heads=4, layers=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, d), nn.Embedding(length, d)
        self.h = nn.ModuleList([Block(d, heads) for _ in range(layers)])
        self.ln_f, self.lm_head = nn.LayerNorm(d), nn.Linear(d, vocabulary, bias=False)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class Functional(nn.Module):
    """Plain tensors and functional collectives: this rank's part of two weights."""

    def __init__(self, rank, group):
        super().__init__()
        made = torch.Generator().manual_seed(5)
        n = 16 // WORLD
        self.w1 = nn.Parameter((torch.randn(16, 8, generator=made) / 4)[rank * n:rank * n + n].clone())
        self.w2 = nn.Parameter((torch.randn(8, 16, generator=made) / 4)[:, rank * n:rank * n + n].clone())
        self.group = group

    def forward(self, x):
        import torch.distributed._functional_collectives as funcol
        whole = funcol.all_gather_tensor_autograd(x, 0, self.group)
        part = F.silu(whole @ self.w1.t()) @ self.w2.t()
        mine = funcol.reduce_scatter_tensor_autograd(part, "sum", 0, self.group)
        rows = [mine.shape[0] // WORLD] * WORLD
        return funcol.all_to_all_single_autograd(mine, rows, rows, self.group)


class Activations(nn.Module):
    """Elementwise functions, some at small arguments, where 1 + x loses them."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(6, 6) / 2)

    def forward(self, x):
        y = x @ self.w
        small = torch.log1p(y.abs() * 1e-4) * 1e4 + torch.expm1(y * 1e-4) * 1e4
        torchs = (F.softplus(y) + F.elu(y) + F.mish(y) + F.hardswish(y) + F.leaky_relu(y) + F.selu(y) + F.logsigmoid(y) +
                  F.glu(torch.cat([y, y], -1)) + F.hardsigmoid(y) + F.softsign(y) + F.relu6(y) + F.celu(y))
        angles = torch.atan(y) + torch.atan2(y, y.abs() + 1) + torch.asinh(y) + torch.sinh(y / 3) + torch.cosh(y / 3)
        return small + torchs + angles + torch.erfc(y) + torch.exp2(y / 3) + torch.hypot(y, y + 3) + torch.logaddexp(y, y * 2)


class Views(nn.Module):
    """In-place operations on views; a view that is read after its base has changed."""

    def __init__(self):
        super().__init__()
        self.l = nn.Linear(6, 6)

    def forward(self, x):
        y = self.l(x)
        z = torch.zeros(4, 6)
        column = z[:, 5]
        z[:, 1] = y[:, 0]
        z[::2] += y[1::2]
        z[1:3, 2:4] = y[:2, :2] * 2
        z.t()[0].mul_(2.0)
        z.view(2, 12)[1].add_(y.view(2, 12)[0])
        z.unsqueeze(0)[0, -1].fill_(1.5)
        return z.masked_fill(z > 2, 0.0) + torch.stack([y[0]] * 4) + column[:, None]


class Tied(nn.Module):
    """One parameter under two names, and a buffer."""

    def __init__(self):
        super().__init__()
        self.wte, self.head = nn.Embedding(12, 8), nn.Linear(8, 12, bias=False)
        self.head.weight = self.wte.weight
        self.register_buffer("scale", torch.tensor(2.0))

    def forward(self, tokens):
        return self.head(self.wte(tokens) * self.scale)


class Experts(nn.Module):
    """Each rank has one expert, with room for a few tokens of every rank."""

    def __init__(self, rank, group, room=3):
        super().__init__()
        made = torch.Generator().manual_seed(3)
        self.gate, self.group, self.room = nn.Linear(6, WORLD, bias=False), group, room
        self.w = nn.Parameter((torch.randn(WORLD, 6, 6, generator=made) / 2)[rank].clone())

    def forward(self, x):
        import torch.distributed._functional_collectives as funcol
        weight, expert = self.gate(x).softmax(-1).max(-1)
        chosen = F.one_hot(expert, WORLD)
        place = (chosen.cumsum(0) * chosen).sum(-1) - 1
        kept = (place < self.room).float()
        slots = chosen[:, :, None] * F.one_hot(place.clamp(max=self.room - 1), self.room)[:, None] * kept[:, None, None]
        sizes = [self.room] * WORLD
        sent = funcol.all_to_all_single_autograd(torch.einsum("tec,td->ecd", slots, x).flatten(0, 1), sizes, sizes, self.group)
        back = funcol.all_to_all_single_autograd(F.relu(sent @ self.w), sizes, sizes, self.group)
        return torch.einsum("tec,ecd->td", slots * weight[:, None, None], back.view(WORLD, self.room, -1))


def cross_entropy(logits, labels):
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def tensor_parallel(model, mesh):
    parallelize_module(model, mesh, {"wte": RowwiseParallel(input_layouts=Replicate()),
                                     "lm_head": ColwiseParallel(output_layouts=Replicate())})
    for block in model.h:
        plan = {f"attn.{name}": ColwiseParallel() for name in "qkv"}
        plan.update({"attn.o": RowwiseParallel(), "mlp.c_fc": ColwiseParallel(), "mlp.c_proj": RowwiseParallel()})
        parallelize_module(block, mesh, plan)


def sequence_parallel(model, mesh):
    parallelize_module(model, mesh, {
        "wte": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "wpe": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(0)), "ln_f": SequenceParallel(),
        "lm_head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate())})
    for block in model.h:
        whole = PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),))
        plan = {f"attn.{name}": ColwiseParallel() for name in "qkv"}
        plan.update({"ln1": SequenceParallel(), "ln2": SequenceParallel(), "attn": whole, "mlp": whole,
                     "attn.o": RowwiseParallel(output_layouts=Shard(1)), "mlp.c_fc": ColwiseParallel(),
                     "mlp.c_proj": RowwiseParallel(output_layouts=Shard(1))})
        parallelize_module(block, mesh, plan)


def fully_sharded(model, mesh):
    from torch.distributed.fsdp import fully_shard
    for block in model.h:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)


def adamw(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-2)


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


# name: mesh, how the module is sharded, optimizer. Batches are cut over dp.
GPTS = {"gpt_tp": ({"tp": 4}, lambda m, mesh: tensor_parallel(m, mesh), adamw),
        "gpt_sp": ({"tp": 4}, lambda m, mesh: sequence_parallel(m, mesh), sgd),
        "gpt_fsdp": ({"dp": 4}, lambda m, mesh: fully_sharded(m, mesh), adamw),
        "gpt_fsdp_tp": ({"dp": 2, "tp": 2},
                        lambda m, mesh: (tensor_parallel(m, mesh["tp"]), fully_sharded(m, mesh["dp"])), sgd)}


def make(name, rank):
    """The sharded module, the plain one or None, this rank's and all data, loss, optimizer, parts of the batch."""
    torch.manual_seed(0)
    data = torch.Generator().manual_seed(1)
    if name == "functional":
        x, y = torch.randn(2, WORLD, 8, 8, generator=data)
        return Functional(rank, dist.group.WORLD), None, (x[rank], y[rank]), None, F.mse_loss, \
            lambda m: torch.optim.SGD(m.parameters(), lr=0.1), WORLD
    if name == "experts":
        x, y = torch.randn(2, WORLD, 5, 6, generator=data)
        return Experts(rank, dist.group.WORLD), None, (x[rank], y[rank]), None, F.mse_loss, \
            lambda m: torch.optim.SGD(m.parameters(), lr=0.1), WORLD
    if name in ("activations", "views"):
        module = {"activations": Activations, "views": Views}[name]
        model, plain = module(), module()
        plain.load_state_dict(model.state_dict())
        x, y = torch.randn(2, 4, 6, generator=data)
        return model, plain, (x, y), (x, y), F.mse_loss, sgd, 1
    if name == "tied_fsdp":
        from torch.distributed.fsdp import fully_shard
        model, plain = Tied(), Tied()
        plain.load_state_dict(model.state_dict())
        fully_shard(model, mesh=init_device_mesh("cpu", (4,), mesh_dim_names=("dp",)))
        x, y = torch.randint(0, 12, (2, 4, 5), generator=data)
        return model, plain, (x[rank:rank + 1], y[rank:rank + 1]), (x, y), cross_entropy, \
            lambda m: torch.optim.AdamW(m.parameters(), lr=1e-2, amsgrad=True), 4
    if name == "mlp_tp":
        model, plain = MLP(8, 16), MLP(8, 16)
        plain.load_state_dict(model.state_dict())
        parallelize_module(model, init_device_mesh("cpu", (4,), mesh_dim_names=("tp",)),
                           {"c_fc": ColwiseParallel(), "c_proj": RowwiseParallel()})
        x, y = torch.randn(2, 6, 8, generator=data)
        return model, plain, (x, y), (x, y), F.mse_loss, sgd, 1
    sizes, shard, optimizer = GPTS[name]
    model, plain = GPT(), GPT()
    plain.load_state_dict(model.state_dict())
    mesh = init_device_mesh("cpu", tuple(sizes.values()), mesh_dim_names=tuple(sizes))
    shard(model, mesh)
    x, y = torch.randint(0, 16, (2, 4, 8), generator=data)
    parts = sizes.get("dp", 1)
    mine = slice(0, 4) if parts == 1 else slice(*(4 // parts * (mesh.get_local_rank("dp") + i) for i in (0, 1)))
    return model, plain, (x[mine], y[mine]), (x, y), cross_entropy, optimizer, parts


def whole(value):
    return (value.full_tensor() if isinstance(value, DTensor) else value).detach().clone()


def step(model, data, loss, optimizer):
    """Gradients and new parameters after one eager step."""
    made = optimizer(model)
    cost = loss(model(data[0]), data[1])
    cost.backward()
    out = {"loss": cost.detach().clone()}
    out.update({f"grad.{n}": whole(p.grad) for n, p in model.named_parameters()})
    made.step()
    out.update({f"{n}.new": whole(p) for n, p in model.named_parameters()})
    return out


def expected_of(plain, data, loss, optimizer, parts):
    output = plain(data[0]).detach()
    out = step(plain, data, loss, optimizer)
    if parts > 1:
        out["loss"] = torch.stack([loss(o, y) for o, y in zip(output.chunk(parts), data[1].chunk(parts))])
    return dict(out, output=output)


def run(name, rank, folder):
    model, plain, mine, data, loss, optimizer, parts = make(name, rank)
    expected = expected_of(plain, data, loss, optimizer, parts) if plain is not None else None
    hostir_capture.capture(f"{folder}/step.hir", model, mine[:1], loss, mine[1:], optimizer(model))
    output = model(mine[0]).detach() if plain is None else None
    eager = step(model, mine, loss, optimizer)
    if expected is None:
        every = [None] * WORLD
        dist.all_gather_object(every, dict(eager, output=output))
        expected = {n: torch.cat([e[n].reshape(1) if e[n].dim() == 0 else e[n] for e in every]) for n in every[0]}
    elif rank == 0:
        worst = max(((eager[n] - expected[n]).abs().max().item(), n) for n in eager if n != "loss")
        print(f"{name}: the sharded eager step differs by at most {worst[0]:.3g}, in {worst[1]}", flush=True)
    if rank == 0:
        hostir_capture.write_safetensors(f"{folder}/expected.safetensors", expected)
        os.rename(f"{folder}/step.safetensors", f"{folder}/in.safetensors")
        os.remove(f"{folder}/step.expected.safetensors")
        with open(f"{folder}/step.graph.json", "rb") as graph, open(f"{folder}/graph.json.gz", "wb") as packed:
            packed.write(gzip.compress(graph.read(), mtime=0))
        os.remove(f"{folder}/step.graph.json")


def worker(rank, folder, names, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=WORLD,
                            timeout=datetime.timedelta(seconds=60))
    for name in names:
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        run(name, rank, f"{folder}/{name}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    chosen = sys.argv[2:] or ["mlp_tp", "functional", "experts", "activations", "views", "tied_fsdp", *GPTS]
    mp.start_processes(worker, args=(os.path.abspath(sys.argv[1]), chosen, 29000 + os.getpid() % 1000), nprocs=WORLD,
                       start_method="fork")
