#include "hostir/import/layout_guess.h"

#include <algorithm>
#include <map>

namespace hostir::importer {

namespace {

using Axes = std::vector<std::string>;

// The axes of each dimension, and whether the value was computed from the device number.
struct Layout {
  std::vector<Axes> dims;
  bool device = false;  // depends on the device number
};

constexpr int kMaxGuessCalls = 64;

class Guess {
 public:
  Guess(const Module& module, const Mesh& mesh) : module_(module), mesh_(mesh) {}

  std::vector<Layout> function(const ModuleFunction& f, std::vector<Layout> arguments, int depth) {
    std::map<ValueNumber, Layout> at;
    for (size_t i = 0; i < arguments.size() && i < f.body.arguments.size(); ++i) {
      at[f.body.arguments[i]] = std::move(arguments[i]);
    }
    return block(f, f.body, at, depth);
  }

 private:
  using Values = std::map<ValueNumber, Layout>;

  std::vector<Layout> block(const ModuleFunction& f, const ModuleBlock& b, Values& at, int depth) {
    std::vector<Layout> out;
    for (const ModuleOp& op : b.ops) {
      std::vector<Layout> in;
      for (const ValueNumber operand : op.operands) in.push_back(at[operand]);
      for (size_t i = 0; i < in.size(); ++i) in[i].dims.resize(f.type(op.operands[i]).dims.size());
      if (op.name == "func.return" || op.name == "stablehlo.return") return in;
      operation(f, op, in, at, depth);
    }
    return out;
  }

  void operation(const ModuleFunction& f, const ModuleOp& op, const std::vector<Layout>& in,
                 Values& at, int depth) {
    if (op.name == "func.call" && depth < kMaxGuessCalls) {
      const Attr* callee = op.find("callee");
      const ModuleFunction* g = callee != nullptr ? module_.find(callee->text) : nullptr;
      if (g != nullptr) assign(op, function(*g, in, depth + 1), at);
      return;
    }
    if (op.name == "stablehlo.while" && op.regions.size() == 2) {
      // A carried value has the same layout in all iterations: follow the body twice to find it.
      std::vector<Layout> carried = in;
      for (int pass = 0; pass < 2; ++pass) {
        for (size_t i = 0; i < carried.size() && i < op.regions[1].arguments.size(); ++i) {
          at[op.regions[1].arguments[i]] = carried[i];
        }
        auto next = block(f, op.regions[1], at, depth);
        if (next.size() == carried.size()) carried = std::move(next);
      }
      assign(op, std::move(carried), at);
      return;
    }
    if ((op.name == "stablehlo.case" || op.name == "stablehlo.if") && !op.regions.empty()) {
      assign(op, block(f, op.regions.front(), at, depth), at);
      return;
    }
    for (size_t r = 0; r < op.results.size(); ++r) at[op.results[r]] = result(f, op, in, r);
  }

  static void assign(const ModuleOp& op, std::vector<Layout> layouts, Values& at) {
    for (size_t r = 0; r < op.results.size() && r < layouts.size(); ++r)
      at[op.results[r]] = std::move(layouts[r]);
  }

  Layout result(const ModuleFunction& f, const ModuleOp& op, const std::vector<Layout>& in,
                size_t r) {
    const auto& to = f.type(op.results[r]).dims;
    Layout out;
    out.dims.resize(to.size());
    for (const Layout& l : in) out.device = out.device || l.device;
    if (op.name == "stablehlo.partition_id") out.device = true;
    if (in.empty()) return out;
    const auto& from = f.type(op.operands[0]).dims;
    const std::string& name = op.name;
    if (name == "stablehlo.broadcast_in_dim") {
      const auto dims = op.integers("broadcast_dimensions");
      for (size_t d = 0; d < dims.size() && d < in[0].dims.size(); ++d) {
        if (dims[d] >= 0 && static_cast<size_t>(dims[d]) < to.size())
          out.dims[static_cast<size_t>(dims[d])] = in[0].dims[d];
      }
    } else if (name == "stablehlo.transpose") {
      const auto p = op.integers("permutation");
      for (size_t d = 0; d < p.size() && d < to.size(); ++d) {
        if (p[d] >= 0 && static_cast<size_t>(p[d]) < in[0].dims.size())
          out.dims[d] = in[0].dims[static_cast<size_t>(p[d])];
      }
    } else if (name == "stablehlo.reshape" || name == "hlo.bitcast") {
      out.dims = regrouped(in[0].dims, from, to);
    } else if (name == "stablehlo.dot_general") {
      out.dims = contracted(op, in, to.size());
    } else if (name == "stablehlo.reduce") {
      const auto dims = op.integers("dimensions");
      size_t at = 0;
      for (size_t d = 0; d < from.size() && at < to.size(); ++d) {
        if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end())
          out.dims[at++] = in[0].dims[d];
      }
    } else if (name == "stablehlo.gather") {
      gather(f, op, in, out);
    } else if (name == "stablehlo.all_gather") {
      out.dims = in[0].dims;
      change(op, "all_gather_dim", out, from, to);
    } else if (name == "stablehlo.reduce_scatter") {
      out.dims = in[0].dims;
      change(op, "scatter_dimension", out, from, to);
    } else if (name == "stablehlo.dynamic_slice") {
      out.dims = in[0].dims;
      for (size_t d = 0; d < to.size() && d < from.size(); ++d) {
        const bool by_device = d + 1 < in.size() && in[d + 1].device;
        if (by_device && to[d] > 0 && to[d] < from[d] && out.dims[d].empty())
          out.dims[d] = free_axes(out, from[d] / to[d]);
      }
      out.device = false;
    } else {
      // Pointwise and other operations: use the first operand of equal rank that has axes.
      for (size_t d = 0; d < to.size(); ++d) {
        for (size_t i = 0; i < in.size() && out.dims[d].empty(); ++i) {
          const auto& dims = f.type(op.operands[i]).dims;
          if (dims.size() == to.size()) out.dims[d] = in[i].dims[d];
        }
      }
    }
    return out;
  }

  // For a reshape: matches runs of dimensions with equal products. The axes of a run go to its
  // most major dimension that is not 1.
  static std::vector<Axes> regrouped(const std::vector<Axes>& axes,
                                     const std::vector<int64_t>& from,
                                     const std::vector<int64_t>& to) {
    std::vector<Axes> out(to.size());
    size_t i = 0;
    size_t j = 0;
    while (i < from.size() && j < to.size()) {
      const size_t first_i = i;
      const size_t first_j = j;
      int64_t a = from[i++];
      int64_t b = to[j++];
      while (a != b && (a < b ? i < from.size() : j < to.size())) {
        if (a < b)
          a *= from[i++];
        else
          b *= to[j++];
      }
      while (i < from.size() && from[i] == 1) ++i;
      while (j < to.size() && to[j] == 1) ++j;
      size_t target = first_j;
      while (target + 1 < j && to[target] == 1) ++target;
      for (size_t d = first_i; d < i; ++d) {
        if (!axes[d].empty() && out[target].empty()) out[target] = axes[d];
      }
    }
    return out;
  }

  static std::vector<Axes> contracted(const ModuleOp& op, const std::vector<Layout>& in,
                                      size_t rank) {
    std::vector<Axes> out;
    const Attr* batch = op.find("batching_dims");
    const Attr* depth = op.find("contracting_dims");
    if (batch == nullptr || depth == nullptr || in.size() < 2) return std::vector<Axes>(rank);
    const auto left_batch = batch->items[0].integers();
    for (const int64_t d : left_batch) {
      if (d >= 0 && static_cast<size_t>(d) < in[0].dims.size())
        out.push_back(in[0].dims[static_cast<size_t>(d)]);
    }
    for (size_t side = 0; side < 2; ++side) {
      const auto b = batch->items[side].integers();
      const auto k = depth->items[side].integers();
      for (size_t d = 0; d < in[side].dims.size(); ++d) {
        const auto number = static_cast<int64_t>(d);
        if (std::find(b.begin(), b.end(), number) == b.end() &&
            std::find(k.begin(), k.end(), number) == k.end()) {
          out.push_back(in[side].dims[d]);
        }
      }
    }
    // An axis can cut only one dimension.
    std::vector<std::string> seen;
    for (Axes& axes : out) {
      std::erase_if(axes, [&](const std::string& a) {
        return std::find(seen.begin(), seen.end(), a) != seen.end();
      });
      seen.insert(seen.end(), axes.begin(), axes.end());
    }
    out.resize(rank);
    return out;
  }

  // Offset dimensions that are taken whole keep the operand's axes; batch dimensions get those of
  // the indices.
  static void gather(const ModuleFunction& f, const ModuleOp& op, const std::vector<Layout>& in,
                     Layout& out) {
    const Attr* numbers = op.find("dimension_numbers");
    if (numbers == nullptr || in.size() < 2) return;
    const auto ints = [&](std::string_view key) {
      const Attr* a = numbers->find(key);
      return a != nullptr ? a->integers() : std::vector<int64_t>();
    };
    const auto offset = ints("offset_dims");
    const auto collapsed = ints("collapsed_slice_dims");
    const auto sizes = op.integers("slice_sizes");
    const auto& dims = f.type(op.operands[0]).dims;
    size_t source = 0;
    size_t index = 0;
    for (size_t d = 0; d < out.dims.size(); ++d) {
      if (std::find(offset.begin(), offset.end(), static_cast<int64_t>(d)) == offset.end()) {
        if (index < in[1].dims.size()) out.dims[d] = in[1].dims[index++];
        continue;
      }
      while (source < dims.size() && std::find(collapsed.begin(), collapsed.end(),
                                               static_cast<int64_t>(source)) != collapsed.end())
        ++source;
      if (source < dims.size() && source < sizes.size() && sizes[source] == dims[source])
        out.dims[d] = in[0].dims[source];
      ++source;
    }
  }

  // all_gather removes axes from the dimension, reduce_scatter adds them.
  void change(const ModuleOp& op, std::string_view key, Layout& out,
              const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
    const auto d = static_cast<size_t>(op.integer_or(key, 0));
    if (d >= out.dims.size() || d >= from.size()) return;
    if (to[d] >= from[d]) {
      int64_t gathered = from[d] > 0 ? to[d] / from[d] : 1;
      while (!out.dims[d].empty() && gathered > 1) {  // gather minor axes first
        gathered /= size_of(out.dims[d].back());
        out.dims[d].pop_back();
      }
      return;
    }
    for (std::string& axis : free_axes(out, to[d] > 0 ? from[d] / to[d] : 1))
      out.dims[d].push_back(std::move(axis));
  }

  int64_t size_of(const std::string& axis) const {
    const auto at = mesh_.axis_index(axis);
    return at ? std::max<int64_t>(mesh_.axes[*at].size, 1) : 1;
  }

  // Unused axes that cut into `parts` parts, minor ones first.
  Axes free_axes(const Layout& layout, int64_t parts) const {
    const auto is_free = [&](const std::string& axis) {
      return std::none_of(layout.dims.begin(), layout.dims.end(), [&](const Axes& axes) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
      });
    };
    for (auto axis = mesh_.axes.rbegin(); axis != mesh_.axes.rend(); ++axis) {
      if (axis->size == parts && is_free(axis->name)) return {axis->name};
    }
    Axes out;
    int64_t left = parts;
    for (auto axis = mesh_.axes.rbegin(); axis != mesh_.axes.rend(); ++axis) {
      if (axis->size < 2 || left % axis->size != 0 || !is_free(axis->name)) continue;
      out.insert(out.begin(), axis->name);
      left /= axis->size;
    }
    return left == 1 ? out : Axes();
  }

  const Module& module_;
  const Mesh& mesh_;
};

}  // namespace

std::vector<Sharding> guess_layouts(const Module& module, const ModuleFunction& entry,
                                    const std::vector<Sharding>& params, const Mesh& mesh) {
  std::vector<Layout> arguments;
  for (const Sharding& sharding : params) {
    Layout layout;
    for (const DimSharding& dim : sharding.dims) {
      Axes axes;
      for (const AxisRef& axis : dim.axes) axes.push_back(axis.name);
      layout.dims.push_back(std::move(axes));
    }
    arguments.push_back(std::move(layout));
  }
  const auto layouts = Guess(module, mesh).function(entry, std::move(arguments), 0);
  std::vector<Sharding> out;
  for (size_t r = 0; r < entry.results.size(); ++r) {
    Sharding sharding = Sharding::replicated(mesh.name, entry.results[r].type.dims.size());
    for (size_t d = 0; r < layouts.size() && d < sharding.dims.size() && d < layouts[r].dims.size();
         ++d) {
      for (const std::string& axis : layouts[r].dims[d])
        sharding.dims[d].axes.push_back({axis, 1, 0});
    }
    out.push_back(std::move(sharding));
  }
  return out;
}

}  // namespace hostir::importer
