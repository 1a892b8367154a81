#include "hostir/import/layout/layout_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "hostir/import/device/device_numbers.h"
#include "hostir/import/device/device_ops.h"
#include "hostir/import/layout/layout_axes.h"
#include "hostir/import/layout/layout_contraction.h"
#include "hostir/import/layout/layout_parts.h"
#include "hostir/import/layout/shape_fit.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

using Axes = AxisNames;

// The parts of each dimension, and whether the value was computed from the device number.
struct Layout {
  std::vector<Parts> dims;
  bool device = false;  // depends on the device number
  Axes differs;         // devices may differ along these axes, because their parameters do
  Axes exchanged;       // of an all_to_all whose results have not been joined yet
  Axes home;            // the axes that preceded them before the all_to_all
  // The dimension along which the value was sliced. For an exchanged value, the dimension along
  // which each operand was sliced; the exchange cuts it.
  std::optional<size_t> sliced;
  DeviceNumbers numbers;
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
      if (!is_reshape(op) && op.name != "func.call" && op.name != "hlo.done") {
        for (Layout& l : in) carry_over(l.dims);
      }
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
      for (Layout& l : carried) l.numbers.clear();  // they change
      for (int pass = 0; pass < 2; ++pass) {
        for (size_t i = 0; i < carried.size() && i < op.regions[1].arguments.size(); ++i) {
          at[op.regions[1].arguments[i]] = carried[i];
        }
        auto next = block(f, op.regions[1], at, depth);
        if (next.size() == carried.size()) carried = std::move(next);
        for (Layout& l : carried) l.numbers.clear();
      }
      assign(op, std::move(carried), at);
      return;
    }
    if ((op.name == "stablehlo.case" || op.name == "stablehlo.if") && !op.regions.empty()) {
      auto chosen = block(f, op.regions.front(), at, depth);
      for (Layout& l : chosen) l.numbers.clear();
      assign(op, std::move(chosen), at);
      return;
    }
    for (size_t r = 0; r < op.results.size(); ++r) {
      Layout layout = result(f, op, in, r);
      const auto& sizes = f.type(op.results[r]).dims;
      layout.dims.resize(sizes.size());
      for (size_t d = 0; d < sizes.size(); ++d) set_local(layout.dims[d], sizes[d]);
      if (sizes.size() == 1) number_parts(layout, sizes[0]);
      at[op.results[r]] = std::move(layout);
    }
  }

  // Consecutive numbers on consecutive devices are the indices of a dimension that is cut over
  // these devices.
  void number_parts(Layout& layout, int64_t size) const {
    const DeviceNumbers& numbers = layout.numbers;
    if (size < 2 || numbers.size() != static_cast<size_t>(mesh_.size())) return;
    const int64_t least =
        (*std::min_element(numbers.begin(), numbers.end(), [](const auto& a, const auto& b) {
          return a.front() < b.front();
        })).front();
    std::vector<int64_t> parts;
    for (int64_t position = 0; position < mesh_.size(); ++position) {
      const auto& row = numbers[static_cast<size_t>(mesh_.rank_at(position))];
      for (size_t i = 1; i < row.size(); ++i) {
        if (row[i] != row[i - 1] + 1) return;
      }
      if ((row.front() - least) % size != 0) return;
      parts.push_back((row.front() - least) / size);
    }
    if (const auto axes = axes_that_number(mesh_, parts)) {
      remove_axes(layout.dims, *axes);
      insert_axes(layout.dims.front(), *axes);
      set_local(layout.dims.front(), size);
    }
  }

  static bool is_reshape(const ModuleOp& op) {
    return op.name == "stablehlo.reshape" || op.name == "hlo.bitcast";
  }

  static void assign(const ModuleOp& op, std::vector<Layout> layouts, Values& at) {
    for (size_t r = 0; r < op.results.size() && r < layouts.size(); ++r)
      at[op.results[r]] = std::move(layouts[r]);
  }

  // A collective moves each of its tensors in the same way, except an all_to_all with an operand
  // for each device.
  static bool moves_each(const ModuleOp& op) {
    if (op.operands.size() < 2 || op.operands.size() != op.results.size()) return false;
    if (op.name == "stablehlo.all_to_all") return op.find("split_dimension") != nullptr;
    return makes_group_equal(op) || op.name == "stablehlo.reduce_scatter" ||
           op.name == "stablehlo.collective_permute";
  }

  Layout result(const ModuleFunction& f, const ModuleOp& op, const std::vector<Layout>& in,
                size_t r) {
    if (moves_each(op) && r < in.size()) {
      ModuleOp one = op;
      one.operands = {op.operands[r]};
      one.results = {op.results[r]};
      return result(f, one, {in[r]}, 0);
    }
    const auto& to = f.type(op.results[r]).dims;
    Layout out;
    out.dims.resize(to.size());
    for (const Layout& l : in) {
      out.device = out.device || l.device;
      add(out.differs, l.differs);
    }
    if (makes_group_equal(op)) {
      const Axes equal = group_axes(op);
      std::erase_if(out.differs, [&](const std::string& axis) { return contains(equal, axis); });
    } else if (op.name == "stablehlo.reduce_scatter") {
      add(out.differs, group_axes(op));
    }
    if (op.name == "stablehlo.partition_id") out.device = true;
    std::vector<DeviceNumbers> numbers;
    for (const Layout& l : in) numbers.push_back(l.numbers);
    out.numbers = device_numbers(f, op, numbers, mesh_);
    if (in.empty()) return out;
    for (const Layout& l : in) {
      if (out.exchanged.empty()) out.exchanged = l.exchanged, out.home = l.home;
    }
    const auto& from = f.type(op.operands[0]).dims;
    const std::string& name = op.name;
    if (name == "stablehlo.slice") {
      out.sliced = only_changed(from, to);
    } else if (is_reshape(op) || name == "stablehlo.all_to_all" || (in.size() == 1 && from == to)) {
      const bool alike = std::all_of(in.begin(), in.end(),
                                     [&](const Layout& l) { return l.sliced == in[0].sliced; });
      if (alike && in[0].sliced) out.sliced = same_place(*in[0].sliced, from, to);
    }
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
    } else if (name == "stablehlo.reshape") {
      out.dims = regrouped(in[0].dims, from, to);
    } else if (name == "hlo.bitcast") {
      out.dims = regrouped_in_memory(in[0].dims, from, to, op.integers("from"), op.integers("to"));
    } else if (name == "stablehlo.dot_general") {
      if (in.size() > 1) out.dims = contracted(op, in[0].dims, in[1].dims, to.size());
    } else if (name == "stablehlo.convolution") {
      if (in.size() > 1) out.dims = convolved(op, in[0].dims, in[1].dims, to.size());
    } else if (name == "stablehlo.reduce") {
      const auto dims = op.integers("dimensions");
      size_t at = 0;
      for (size_t d = 0; d < from.size() && at < to.size(); ++d) {
        if (!contains(dims, static_cast<int64_t>(d))) out.dims[at++] = in[0].dims[d];
      }
    } else if (name == "stablehlo.gather") {
      if (in.size() > 1)
        out.dims = gathered(op, f.type(op.operands[0]).dims, in[0].dims, in[1].dims, to.size());
    } else if (name == "stablehlo.all_gather") {
      out.dims = in[0].dims;
      change(op, "all_gather_dim", out, from, to);
    } else if (name == "stablehlo.reduce_scatter") {
      out.dims = in[0].dims;
      change(op, "scatter_dimension", out, from, to);
    } else if (name == "stablehlo.all_reduce") {
      // The devices of a group hold equal sums.
      if (r < in.size()) out.dims = in[r].dims;
      out.dims.resize(to.size());
      remove_axes(out.dims, group_axes(op));
    } else if (name == "stablehlo.all_to_all") {
      if (r < in.size()) out.dims = in[r].dims;
      out.dims.resize(to.size());
      const Axes axes = group_axes(op);
      const auto d = static_cast<size_t>(op.integer_or("split_dimension", 0));
      if (in.size() == 1 && op.find("split_dimension") != nullptr && d < to.size()) {
        exchange(out.dims, d, axes, parts_of(axes));
      } else {  // an operand for each device: the op that joins the results shows which dimension
                // is cut
        out.home = remove_axes(out.dims, axes);
        out.exchanged = axes;
      }
    } else if (name == "stablehlo.dynamic_update_slice" && in.size() > 1) {
      out.dims = in[0].dims;
      out.dims.resize(to.size());
      const auto& part = f.type(op.operands[1]).dims;
      for (size_t d = 0; d < to.size() && d < part.size(); ++d) {
        if (part[d] != to[d]) continue;
        for (const std::string& axis : axes_of(in[1].dims[d])) {
          if (place_of(out.dims, axis) == to.size())
            insert_in_order(out.dims[d], {{axis, 1, {}}}, in[1].dims[d]);
        }
      }
    } else if (name == "stablehlo.concatenate" && !out.exchanged.empty()) {
      const auto d = static_cast<size_t>(op.integer_or("dimension", 0));
      out.dims = in[0].dims;
      if (d < to.size() && d < from.size() && from[d] > 0) {
        const std::optional<size_t> cut = in[0].sliced;
        join_exchanged(out.dims, d, from[d], to[d] / from[d], out.exchanged, out.home,
                       cut && *cut != d ? cut : std::nullopt);
      }
      out.exchanged.clear();
      out.sliced.reset();
    } else if (name == "stablehlo.collective_permute") {
      out.dims = permuted(op, in[0].dims);
    } else if (name == "stablehlo.dynamic_slice") {
      out.dims = in[0].dims;
      for (size_t d = 0; d < to.size() && d < from.size(); ++d) {
        const bool by_device = d + 1 < in.size() && in[d + 1].device;
        if (!by_device || to[d] < 1 || to[d] >= from[d]) continue;
        const auto axes = axes_that_change(in[d + 1].numbers, mesh_);
        Axes cut;
        for (const size_t axis : axes) {
          if (!contains(axes_of(out.dims[d]), mesh_.axes[axis].name))
            cut.push_back(mesh_.axes[axis].name);
        }
        if (axes.empty() && axes_of(out.dims[d]).empty()) cut = free_axes(out, from[d] / to[d]);
        for (const std::string& axis : cut) scatter_axis(out.dims[d], axis, size_of(axis));
      }
      out.device = out.numbers.size() > 1;
    } else {
      out.dims = combined_dims(f, op, in, to.size());
    }
    return out;
  }

  static void add(Axes& to, const Axes& axes) {
    for (const std::string& axis : axes) {
      add_once(to, axis);
    }
  }

  // True if all devices of a group hold the same value afterwards.
  static bool makes_group_equal(const ModuleOp& op) {
    return op.name == "stablehlo.all_reduce" || op.name == "stablehlo.all_gather" ||
           op.name == "stablehlo.collective_broadcast";
  }

  // The axes that a collective's groups span; none if the groups do not span whole axes.
  Axes group_axes(const ModuleOp& op) const {
    const Attr* attr = op.find("replica_groups");
    const auto groups = attr != nullptr ? dense_groups(*attr) : std::nullopt;
    const auto places = groups && !groups->empty() ? axes_of_groups(mesh_, *groups) : std::nullopt;
    const bool all = attr == nullptr || (groups && groups->empty());  // one group of all devices
    Axes out;
    for (size_t axis = 0; axis < mesh_.axes.size(); ++axis) {
      if (all || (places && contains(*places, axis))) out.push_back(mesh_.axes[axis].name);
    }
    return out;
  }

  // Pointwise and other operations: the first operand's dimensions. An axis that it lacks goes
  // where another operand has it; so does an axis whose place is more certain in another operand.
  static std::vector<Parts> combined_dims(const ModuleFunction& f, const ModuleOp& op,
                                          const std::vector<Layout>& in, size_t rank) {
    std::vector<Parts> out(rank);
    bool first = true;
    for (size_t i = 0; i < in.size(); ++i) {
      const auto& dims = f.type(op.operands[i]).dims;
      if (dims.size() != rank) continue;
      if (std::exchange(first, false)) {
        out = in[i].dims;
        continue;
      }
      for (size_t d = 0; d < rank; ++d) {
        for (const Parts& group : axis_groups(in[i].dims[d])) {
          const std::string& axis = group.front().axis;
          const size_t place = place_of(out, axis);
          if (place < rank && sureness(out[place], axis) >= sureness(in[i].dims[d], axis)) continue;
          remove_axes(out, {axis});
          insert_in_order(out[d], group, in[i].dims[d]);
        }
      }
    }
    return out;
  }

  // The dimension that an axis cuts; the rank if none.
  static size_t place_of(const std::vector<Parts>& dims, const std::string& axis) {
    size_t d = 0;
    while (d < dims.size() && !contains(axes_of(dims[d]), axis)) ++d;
    return d;
  }

  // all_gather replaces axes by local indices, reduce_scatter local indices by axes.
  void change(const ModuleOp& op, std::string_view key, Layout& out,
              const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
    const auto d = static_cast<size_t>(op.integer_or(key, 0));
    if (d >= out.dims.size() || d >= from.size()) return;
    const Axes axes = group_axes(op);
    const int64_t parts = parts_of(axes);
    if (to[d] >= from[d]) {
      int64_t gathered = from[d] > 0 ? to[d] / from[d] : 1;
      if (parts == gathered) {
        for (const std::string& axis : axes) gather_axis(out.dims[d], axis, size_of(axis));
        return;
      }
      for (Axes cut = axes_of(out.dims[d]); !cut.empty() && gathered > 1; cut.pop_back()) {
        const int64_t size = size_of(cut.back());
        gathered /= size;  // gather minor axes first
        gather_axis(out.dims[d], cut.back(), size);
      }
      return;
    }
    const int64_t scattered = to[d] > 0 ? from[d] / to[d] : 1;
    Axes cut = parts == scattered ? axes : free_axes(out, scattered);
    std::erase_if(cut, [&](const std::string& a) { return contains(axes_of(out.dims[d]), a); });
    for (const std::string& axis : cut) scatter_axis(out.dims[d], axis, size_of(axis));
  }

  // A permutation of all devices may give a dimension the same axes in another order, or others.
  std::vector<Parts> permuted(const ModuleOp& op, std::vector<Parts> dims) const {
    const std::vector<int64_t> pairs = op.integers("source_target_pairs");
    for (Parts& parts : dims) {
      const Axes axes = axes_of(parts);
      const auto now = axes.empty() ? std::nullopt : axes_after(mesh_, axes, pairs);
      if (!now || *now == axes) continue;
      replace_axes(parts, *now);
    }
    return dims;
  }

  int64_t parts_of(const Axes& axes) const {
    int64_t parts = 1;
    for (const std::string& axis : axes) parts *= size_of(axis);
    return parts;
  }

  int64_t size_of(const std::string& axis) const {
    const auto at = mesh_.axis_index(axis);
    return at ? std::max<int64_t>(mesh_.axes[*at].size, 1) : 1;
  }

  // Unused axes that cut into `parts` parts, minor ones first.
  Axes free_axes(const Layout& layout, int64_t parts) const {
    const auto is_free = [&](const std::string& axis) {
      return place_of(layout.dims, axis) == layout.dims.size();
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

std::vector<GuessedLayout> guess_layouts(const Module& module, const ModuleFunction& entry,
                                         const std::vector<Sharding>& params, const Mesh& mesh,
                                         const ResultShapes& shapes) {
  const FineMesh fine(mesh);
  std::vector<Layout> arguments;
  for (size_t p = 0; p < params.size(); ++p) {
    Layout layout;
    const auto& local = entry.params[p].type.dims;
    for (size_t d = 0; d < params[p].dims.size(); ++d) {
      Axes axes;
      for (const AxisRef& axis : params[p].dims[d].axes) {
        const Axes parts = fine.axes_of(axis);
        axes.insert(axes.end(), parts.begin(), parts.end());
      }
      layout.differs.insert(layout.differs.end(), axes.begin(), axes.end());
      Parts parts;
      insert_axes(parts, axes);
      set_local(parts, d < local.size() ? local[d] : 1);
      layout.dims.push_back(std::move(parts));
    }
    arguments.push_back(std::move(layout));
  }
  const auto layouts = Guess(module, fine.mesh).function(entry, std::move(arguments), 0);
  std::vector<GuessedLayout> out;
  for (size_t r = 0; r < entry.results.size(); ++r) {
    const auto& local = entry.results[r].type.dims;
    Sharding sharding = Sharding::replicated(mesh.name, local.size());
    Axes used;  // an axis cuts one dimension
    const auto cut = [&](size_t d, const std::string& axis) {
      if (contains(used, axis)) return;
      used.push_back(axis);
      sharding.dims[d].axes.push_back({axis, 1, 0});
    };
    for (size_t d = 0; r < layouts.size() && d < local.size() && d < layouts[r].dims.size(); ++d) {
      for (const std::string& axis : axes_of(layouts[r].dims[d])) cut(d, axis);
    }
    const auto whole = shapes ? shapes(r) : std::nullopt;
    const bool fits = whole && ShapeFit(fine.mesh, sharding, {}).find(local, *whole) == sharding;
    // An axis that was lost together with a dimension of size 1 cuts the first such dimension.
    const auto one = std::find(local.begin(), local.end(), 1) - local.begin();
    if (!fits && r < layouts.size() && one < static_cast<int64_t>(local.size())) {
      for (const std::string& axis : layouts[r].differs) cut(static_cast<size_t>(one), axis);
    }
    const Sharding followed = sharding;
    if (whole && !fits) {
      Axes differs = r < layouts.size() ? layouts[r].differs : Axes();
      sharding = ShapeFit(fine.mesh, sharding, std::move(differs)).find(local, *whole);
    }
    std::string gaps;
    for (size_t d = 0; r < layouts.size() && d < local.size() && d < layouts[r].dims.size(); ++d) {
      const Parts& parts = layouts[r].dims[d];
      if (gaps.empty() && has_gaps(parts) && sharding.dims[d] == followed.dims[d])
        gaps = fmt::format("dimension {} is {}", d, text_of(parts));
    }
    for (DimSharding& dim : sharding.dims) {
      for (AxisRef& axis : dim.axes)
        axis = fine.origins[fine.mesh.axis_index(axis.name).value_or(0)];
      dim.axes = merged_axes(mesh, dim.axes);
    }
    out.push_back({std::move(sharding), std::move(gaps)});
  }
  return out;
}

}  // namespace hostir::importer
