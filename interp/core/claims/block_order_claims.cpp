// Checks that kernels read and write buffers in the order in which these are stored.
//
// The layout of a buffer for a collective may store it in blocks, one per member. A kernel that
// reads such a buffer must unpack it first, and one that makes such a buffer must pack it. Ops that
// work on each element alone keep the order, and a sum over everything does not depend on it.
// Nothing is claimed about plain tensors.

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "interp/core/claims/claims.h"

namespace hostir::interp::claims {

namespace {

/// In which order a kernel value is stored.
struct Order {
  enum class Kind : uint8_t { kUnknown, kAny, kRowMajor, kBlocks } kind = Kind::kUnknown;
  std::string blocks;   // kBlocks: the sharding whose boxes are the blocks
  std::string from;     // kBlocks, kRowMajor: the launch operand that it is computed from
  bool packed = false;  // kBlocks: by the kernel; these blocks may be in row-major order
};

// True if the blocks of a part are not one after the other in its row-major order.
bool is_reordered(const Placement& p) {
  int64_t at = 0;
  for (const Box& block : p.blocks) {
    const BoxOfWhole stored{block, p.global}, plain{p.box, p.global, at};
    if (at + block.volume() > p.box.volume()) return true;
    if (first_apart(stored, plain, block.volume())) return true;
    at += block.volume();
  }
  return false;
}

Order order_of(const Code& code, LayoutIndex layout, std::string name) {
  const ShardType* type = shard(code, layout);
  if (type == nullptr || !code.layouts[layout].is_static()) return {};
  const std::vector<Placement>& parts = code.layouts[layout].by_rank.distinct();
  if (type->blocks && std::any_of(parts.begin(), parts.end(), is_reordered))
    return {Order::Kind::kBlocks, type->blocks->to_string(), std::move(name)};
  return {Order::Kind::kRowMajor, {}, std::move(name)};
}

tl::unexpected<Error> wrong_order(std::string sentence, const Operand& operand) {
  return fail_at(ErrorKind::kInvalid, "block_order", std::move(sentence), operand.span);
}

class KernelOrder {
 public:
  explicit KernelOrder(const Launch& launch)
      : launch_(launch), orders_(launch.kernel.values.size()) {
    for (size_t p = 0; p < launch.in.size(); ++p) {
      orders_[launch.kernel.params[p].value.index] =
          order_of(launch.code, launch.c.layouts[launch.in[p]],
                   buffer_name(launch.code, launch.c, launch.in[p]));
    }
  }

  Expected<void> check() {
    for (const InstrId id : launch_.kernel.region(launch_.kernel.body).instructions) {
      const Instruction& i = launch_.kernel.instr(id);
      if (i.results.empty()) return check_results(i);
      HOSTIR_ASSIGN_OR_RETURN(const Order made, apply(i));
      for (const ValueId value : i.results) orders_[value.index] = made;
    }
    return {};
  }

 private:
  Expected<Order> apply(const Instruction& i) const {
    const OpRecord& op = record(i.kind);
    if (const auto* blocks = i.attributes.get<Sharding>("blocks")) return repacked(i, *blocks);
    if (op.shape == OpShape::kSource) {
      const bool uniform = i.attributes.has("value");
      return Order{uniform ? Order::Kind::kAny : Order::Kind::kRowMajor, {}, {}};
    }
    const bool elementwise = op.shape == OpShape::kPointwise;
    Order out{Order::Kind::kAny, {}, {}};
    for (const Operand& o : i.operands) {
      if (!o.value.valid()) continue;
      const Order& order = orders_[o.value.index];
      if (order.kind == Order::Kind::kBlocks && !elementwise && !is_scalar(i.results))
        return misread(i, order);
      if (order.kind == Order::Kind::kAny || is_scalar(o.value)) continue;
      if (out.kind == Order::Kind::kAny) out = order;
      if (order.kind == Order::Kind::kUnknown) out = order;
      const bool known = out.kind != Order::Kind::kUnknown && order.kind != Order::Kind::kUnknown;
      if (elementwise && known && out.blocks != order.blocks) return misread(i, out, order);
    }
    if (elementwise || out.kind == Order::Kind::kUnknown) return out;
    return Order{Order::Kind::kRowMajor, {}, out.from};
  }

  // pack and unpack.
  Expected<Order> repacked(const Instruction& i, const Sharding& blocks) const {
    const Order& order = orders_[i.operands.front().value.index];
    const bool packs = i.kind == OpKind::pack;
    if (packs && order.kind == Order::Kind::kBlocks) return misread(i, order);
    if (!packs && order.kind == Order::Kind::kBlocks && order.blocks != blocks.to_string()) {
      return wrong_order(
          fmt::format("kernel @{} unpacks {} as blocks={}, but its layout says blocks={}",
                      launch_.kernel.name, order.from, blocks.to_string(), order.blocks),
          operand_named(order.from));
    }
    if (packs) return Order{Order::Kind::kBlocks, blocks.to_string(), order.from, true};
    return Order{Order::Kind::kRowMajor, {}, order.from};
  }

  tl::unexpected<Error> misread(const Instruction& i, const Order& order) const {
    return wrong_order(
        fmt::format(
            "{} is stored in blocks ({}), but {} in kernel @{} reads it in row-major order; "
            "unpack it first",
            order.from, order.blocks, record(i.kind).mnemonic, launch_.kernel.name),
        operand_named(order.from));
  }

  tl::unexpected<Error> misread(const Instruction& i, const Order& a, const Order& b) const {
    const Order& packed = a.kind == Order::Kind::kBlocks ? a : b;
    const Order& other = a.kind == Order::Kind::kBlocks ? b : a;
    return wrong_order(
        fmt::format(
            "{} is stored in blocks ({}), but {} in kernel @{} combines it with {}, which is "
            "stored {}",
            packed.from, packed.blocks, record(i.kind).mnemonic, launch_.kernel.name,
            other.from.empty() ? "a value" : other.from,
            other.blocks.empty() ? "in row-major order; unpack it first"
                                 : fmt::format("in other blocks ({})", other.blocks)),
        operand_named(packed.from));
  }

  Expected<void> check_results(const Instruction& ret) const {
    for (size_t r = 0; r < launch_.out.size() && r < ret.operands.size(); ++r) {
      const Order& made = orders_[ret.operands[r].value.index];
      const std::string name = buffer_name(launch_.code, launch_.c, launch_.out[r]);
      const Order said = order_of(launch_.code, after(launch_.c, launch_.out[r]), name);
      const bool known = made.kind >= Order::Kind::kRowMajor && said.kind >= Order::Kind::kRowMajor;
      if (!known || made.blocks == said.blocks) continue;
      const auto stored = [](const Order& order) {
        return order.blocks.empty() ? std::string("in row-major order")
                                    : fmt::format("in blocks ({})", order.blocks);
      };
      if (said.kind == Order::Kind::kRowMajor && made.packed) continue;
      return wrong_order(
          fmt::format("kernel @{} makes {} {}, but its layout says that it is stored {}; {}",
                      launch_.kernel.name, name, stored(made), stored(said),
                      said.blocks.empty() ? "unpack it first" : "pack it first"),
          launch_.source.operands[launch_.out[r]]);
    }
    return {};
  }

  bool is_scalar(ValueId value) const { return shape_of(launch_.kernel.value(value).type).empty(); }
  bool is_scalar(const std::vector<ValueId>& results) const {
    return std::all_of(results.begin(), results.end(),
                       [&](ValueId value) { return is_scalar(value); });
  }

  const Operand& operand_named(const std::string& name) const {
    for (const size_t o : launch_.in) {
      if (buffer_name(launch_.code, launch_.c, o) == name) return launch_.source.operands[o];
    }
    return launch_.source.operands.front();
  }

  const Launch& launch_;
  std::vector<Order> orders_;
};

// Compares the stored orders only if one of the operands is in blocks.
bool has_blocks(const Launch& launch) {
  for (size_t o = 0; o < launch.c.operands.size(); ++o) {
    if (launch.c.operands[o] == kNoRegister) continue;
    for (const LayoutIndex layout : {launch.c.layouts[o], after(launch.c, o)}) {
      const ShardType* type = shard(launch.code, layout);
      if (type != nullptr && type->blocks) return true;
    }
  }
  return false;
}

}  // namespace

Expected<void> check_block_order(const Code& code, CodeIndex index) {
  const std::optional<Launch> launch = launch_of(code, index);
  if (!launch || !launch->kernel.rule.empty() || !has_blocks(*launch)) return {};
  return KernelOrder(*launch).check();
}

}  // namespace hostir::interp::claims
