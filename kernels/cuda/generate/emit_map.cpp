// Groups without folds: every thread computes a few independent vectors.
//
// 1. All of a thread's loads come first, so that they overlap (and so that an output may be one of
//    the inputs).
// 2. Then each vector is computed and stored.
// Several groups may share a launch: each has its own range of blocks.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/generate/emit_common.h"

namespace hostir::cuda {
namespace {

constexpr int kMapThreads = 256;
constexpr size_t kMostParts = 16;  // per launch
constexpr size_t kMostArguments = 400;

struct MapPart {
  const Group* group;
  GroupText text;
  int per_thread = 1;
  int64_t vectors = 0;
  int64_t blocks = 0;
};

MapPart make_part(const Group& group) {
  std::vector<size_t> dims = dims_where({}, false, group.extents().size());
  Axes axes = join_axes(group, {}, dims);
  const int vector = pick_vector(group, axes, true);
  const int64_t last = axes.inner.back();
  const int64_t vectors = axes.inner_volume() / last * ceil_div(last, vector);
  size_t loads = 0;
  for (const Register& reg : group.registers()) loads += reg.from == Register::From::kLoad;
  int per_thread = loads <= 1 ? 4 : loads <= 3 ? 2 : 1;
  // For small sizes, use more threads instead.
  while (per_thread > 1 && vectors < int64_t{132} * 2048 * per_thread) per_thread /= 2;
  return {&group, GroupText(group, std::move(axes), vector), per_thread, vectors,
          ceil_div(vectors, int64_t{kMapThreads} * per_thread)};
}

std::string map_body(const MapPart& part) {
  const GroupText& text = part.text;
  const Group& group = *part.group;
  const int64_t last = text.axes().inner.back();
  const bool has_tail = last % text.vector() != 0;
  const std::string count = has_tail ? "count" : "";
  std::string head = fmt::format(
      "#pragma unroll\n  for (int j = 0; j < {}; ++j) {{\n"
      "    const index t = ((index)block * {} + j) * kThreads + threadIdx.x;\n",
      part.per_thread, part.per_thread);
  if (part.vectors % (int64_t{kMapThreads} * part.per_thread) != 0) {
    head += fmt::format("    if (t >= {}) continue;\n", part.vectors);
  }
  Extents extents = text.axes().inner;
  extents.back() = ceil_div(last, text.vector()) * text.vector();
  head += take_apart("t", extents, text.vector(), "c", "    ");
  if (has_tail)
    head += fmt::format("    const int count = {} - c0 < {} ? (int)({} - c0) : {};\n", last,
                        text.vector(), last, text.vector());
  std::string declarations;
  std::string loads;
  std::string compute;
  for (size_t r = 0; r < group.registers().size(); ++r) {
    const int reg = static_cast<int>(r);
    if (group.at(reg).from == Register::From::kLoad) {
      declarations += fmt::format("  {} v{}[{}];\n", text.type(reg), reg, part.per_thread);
      loads += text.define(reg, "    ", count);
    } else {
      compute += text.define(reg, "    ", count);
    }
  }
  for (size_t s = 0; s < group.stores().size(); ++s) compute += text.store(s, "    ", count);
  if (!loads.empty()) loads = head + loads + "  }\n";
  return declarations + loads + head + compute + "  }\n";
}

void emit_launch(std::vector<MapPart> parts, Plan& plan) {
  GeneratedStep step;
  step.name = next_name(plan);
  step.block = kMapThreads;
  std::string bodies;
  std::string aligned;
  std::string unaligned;
  // One argument list for all parts.
  for (size_t p = 0; p < parts.size(); ++p) {
    for (const int buffer : parts[p].text.buffers()) {
      for (MapPart& other : parts) other.text.add_argument(buffer);
    }
  }
  for (MapPart& part : parts) part.text.order_arguments(parts[0].text.buffers());
  int64_t first = 0;
  for (size_t p = 0; p < parts.size(); ++p) {
    MapPart& part = parts[p];
    for (size_t r = 0; r < part.group->registers().size(); ++r) {
      if (part.group->registers()[r].from == Register::From::kLoad)
        part.text.use_array(static_cast<int>(r));
    }
    const std::string name = fmt::format("{}_{}", step.name, p);
    bodies += body_function(name, part.text.buffers().size(), part.text.index(), kMapThreads,
                            map_body(part));
    const std::string block =
        first == 0 ? std::string("blockIdx.x") : fmt::format("blockIdx.x - {}u", first);
    const std::string guard =
        p + 1 < parts.size() ? fmt::format("if (blockIdx.x < {}u) ", first + part.blocks) : "";
    const auto call = [&](std::string_view is_aligned) {
      return fmt::format("  {}{}{}<{}>(a, {});\n", p == 0 ? "" : "else ", guard, name, is_aligned,
                         block);
    };
    aligned += call("true");
    unaligned += call("false");
    first += part.blocks;
    const auto uses = uses_of_group(*part.group, parts.size() == 1);
    step.uses.insert(step.uses.end(), uses.begin(), uses.end());
    step.read_bytes += part.text.read_bytes();
    step.write_bytes += part.text.write_bytes();
    step.flops += part.group->flops;
  }
  step.buffers = parts[0].text.buffers();
  step.grid = static_cast<unsigned>(first);
  step.summary =
      fmt::format("{}, {} elements{}", parts[0].text.ops(), parts[0].group->space().box.volume(),
                  parts.size() > 1 ? fmt::format(", {} parts", parts.size()) : "");
  step.text = bodies + entries(step.name, step.buffers.size(), kMapThreads, aligned, unaligned);
  plan.steps.emplace_back(std::move(step));
}

}  // namespace

void emit_parts(const std::vector<Group>& groups, Plan& plan) {
  std::vector<MapPart> parts;
  size_t arguments = 0;
  for (const Group& group : groups) {
    if (group.space().box.empty() || group.stores().empty()) continue;
    parts.push_back(make_part(group));
    arguments += parts.back().text.buffers().size();
    if (parts.size() < kMostParts && arguments < kMostArguments) continue;
    emit_launch(std::move(parts), plan);
    parts.clear();
    arguments = 0;
  }
  if (!parts.empty()) emit_launch(std::move(parts), plan);
}

}  // namespace hostir::cuda
