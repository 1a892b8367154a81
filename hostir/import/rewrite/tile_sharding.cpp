#include "hostir/import/rewrite/tile_sharding.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "hostir/import/hlo/hlo_text.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

using Ints = std::vector<int64_t>;

// The text between the bracket at `open` and the matching closing bracket.
std::string_view bracketed(std::string_view text, size_t open) {
  const char left = text[open];
  const char right = left == '[' ? ']' : left == '{' ? '}' : ')';
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == left) ++depth;
    if (text[i] == right && --depth == 0) return text.substr(open + 1, i - open - 1);
  }
  return {};
}

int64_t product_of_all(const Ints& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) {
    if (size < 1 || __builtin_mul_overflow(product, size, &product) ||
        product > Mesh::kMaxPositions)
      return -1;
  }
  return product;
}

// `<=[a,b]T(1,0)`: 0..N-1 reshaped, transposed, flattened.
std::optional<Ints> iota_devices(std::string_view text) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos) return std::nullopt;
  const Ints dims = integers_in(bracketed(text, open));
  const int64_t count = product_of_all(dims);
  if (count < 0) return std::nullopt;
  Ints order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  if (const size_t t = text.find("T("); t != std::string_view::npos) {
    order = integers_in(bracketed(text, t + 1));
    Ints sorted = order;
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted.size() != dims.size() || sorted[i] != static_cast<int64_t>(i)) return std::nullopt;
    }
  }
  Ints strides(dims.size(), 1);
  for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
  Ints out;
  Ints index(dims.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t device = 0;
    for (size_t d = 0; d < order.size(); ++d)
      device += index[d] * strides[static_cast<size_t>(order[d])];
    out.push_back(device);
    for (size_t d = order.size(); d-- > 0;) {
      if (++index[d] < dims[static_cast<size_t>(order[d])]) break;
      index[d] = 0;
    }
  }
  return out;
}

// An axis name, quoted or not, up to a delimiter.
std::string axis_name(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'' || c == '"' || c == ' ') continue;
    if (c == '=' || c == ':' || c == ',' || c == '}') break;
    out += c;
  }
  return out;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '{' || text[i] == '(' || text[i] == '[')) ++depth;
    if (i < text.size() && (text[i] == '}' || text[i] == ')' || text[i] == ']')) --depth;
    if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
    std::string_view item = text.substr(begin, i - begin);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    if (!item.empty()) out.push_back(item);
    begin = i + 1;
  }
  return out;
}

// `'x'=2,'y'=4`.
std::optional<std::vector<MeshAxis>> named_axes(std::string_view text) {
  std::vector<MeshAxis> out;
  Ints sizes;
  for (const std::string_view item : split_at_commas(text)) {
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const Ints size = integers_in(item.substr(equals));
    if (size.size() != 1) return std::nullopt;
    sizes.push_back(size[0]);
    out.push_back({axis_name(item), size[0]});
  }
  if (product_of_all(sizes) < 0) return std::nullopt;
  return out;
}

// `'x'`, `'x':(1)2`.
std::vector<AxisRef> axis_refs(std::string_view text) {
  std::vector<AxisRef> out;
  for (const std::string_view item : split_at_commas(text)) {
    if (item == "?") continue;
    AxisRef ref;
    ref.name = axis_name(item);
    if (const size_t colon = item.find(':'); colon != std::string_view::npos) {
      const Ints sizes = integers_in(item.substr(colon));
      if (sizes.size() == 2) ref.pre = sizes[0], ref.size = sizes[1];
    }
    out.push_back(std::move(ref));
  }
  return out;
}

std::optional<TileSharding> parse_named(std::string_view text, size_t at) {
  TileSharding out;
  out.kind = TileSharding::Kind::kNamed;
  auto axes = named_axes(bracketed(text, at));
  if (!axes) return std::nullopt;
  out.mesh = std::move(*axes);
  const size_t dims = text.find('[', at + bracketed(text, at).size() + 2);
  if (dims == std::string_view::npos) {
    out.kind = TileSharding::Kind::kReplicated;
    return out;
  }
  for (const std::string_view item : split_at_commas(bracketed(text, dims))) {
    DimSharding dim;
    if (item.starts_with('{')) dim.axes = axis_refs(bracketed(item, 0));
    out.dims.push_back(std::move(dim));
  }
  return out;
}

// A tile dimension that steps through the devices with a constant stride.
struct Walk {
  int64_t stride = 1;
  int64_t size = 1;
};

std::optional<std::vector<Walk>> walks_of(const TileSharding& s) {
  std::vector<Walk> out;
  int64_t below = static_cast<int64_t>(s.devices.size());
  if (product_of_all(s.tiles) != below || s.devices.empty() || s.devices.front() != 0)
    return std::nullopt;
  for (const int64_t size : s.tiles) {
    below /= size;
    out.push_back({size > 1 ? s.devices[static_cast<size_t>(below)] : 1, size});
    if (out.back().stride < 1) return std::nullopt;
  }
  Ints index(s.tiles.size(), 0);
  for (const int64_t device : s.devices) {  // each one must be the sum of index * stride
    int64_t expected = 0;
    for (size_t d = 0; d < index.size(); ++d) expected += index[d] * out[d].stride;
    if (expected != device) return std::nullopt;
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < s.tiles[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

// Splits each tile dimension into walks with constant strides, major to minor.
std::optional<std::vector<std::vector<Walk>>> split_walks(const TileSharding& s) {
  if (const auto simple = walks_of(s)) {
    std::vector<std::vector<Walk>> out;
    for (const Walk& walk : *simple) out.push_back({walk});
    return out;
  }
  // A dimension cut by several axes has several strides: factor it into primes and try again.
  TileSharding fine = s;
  fine.tiles.clear();
  std::vector<size_t> of;
  for (size_t d = 0; d < s.tiles.size(); ++d) {
    int64_t rest = s.tiles[d];
    for (int64_t p = 2; p * p <= rest; ++p) {
      for (; rest % p == 0; rest /= p) fine.tiles.push_back(p), of.push_back(d);
    }
    if (rest > 1) fine.tiles.push_back(rest), of.push_back(d);
  }
  const auto walks = walks_of(fine);
  if (!walks) return std::nullopt;
  std::vector<std::vector<Walk>> out(s.tiles.size());
  for (size_t i = 0; i < of.size(); ++i) out[of[i]].push_back((*walks)[i]);
  return out;
}

}  // namespace

bool has_axis(const Mesh& mesh, const AxisRef& axis) {
  const auto at = mesh.axis_index(axis.name);
  if (!at) return false;
  if (axis.whole() && axis.pre == 1) return true;
  int64_t product = 0;
  return axis.pre >= 1 && axis.size >= 1 &&
         !__builtin_mul_overflow(axis.pre, axis.size, &product) &&
         mesh.axes[*at].size % product == 0;
}

std::optional<TileSharding> parse_tile_sharding(std::string_view text) {
  TileSharding out;
  if (const size_t mesh = text.find("mesh["); mesh != std::string_view::npos)
    return parse_named(text, mesh + 4);
  if (text.find("devices=") == std::string_view::npos) {
    return text.find("replicated") != std::string_view::npos ||
                   text.find("manual") != std::string_view::npos
               ? std::optional(out)
               : std::nullopt;
  }
  const size_t open = text.find('[');
  out.kind = TileSharding::Kind::kTiled;
  if (open == std::string_view::npos) return std::nullopt;
  out.tiles = integers_in(bracketed(text, open));
  std::string_view rest = text.substr(open + bracketed(text, open).size() + 2);
  rest = rest.substr(0, rest.find("last_tile"));
  if (const size_t arrow = rest.find("<="); arrow != std::string_view::npos) {
    auto devices = iota_devices(rest.substr(arrow));
    if (!devices) return std::nullopt;
    out.devices = std::move(*devices);
  } else {
    out.devices = integers_in(rest);
  }
  if (product_of_all(out.tiles) != static_cast<int64_t>(out.devices.size())) return std::nullopt;
  return out;
}

std::vector<std::string_view> element_shardings(std::string_view text, size_t count) {
  if (text.empty()) return {};
  std::vector<std::string_view> out;
  if (!text.starts_with("{{")) {
    out.push_back(text);
  } else {
    int depth = 0;
    size_t begin = 0;
    for (size_t at = 1; at + 1 < text.size(); ++at) {
      if (text[at] == '{' && depth++ == 0) begin = at;
      if (text[at] == '}' && --depth == 0) out.push_back(text.substr(begin, at + 1 - begin));
    }
  }
  return out.size() == count ? out : std::vector<std::string_view>();
}

Expected<Mesh> mesh_for(const std::vector<TileSharding>& shardings, int64_t devices) {
  Mesh mesh;
  mesh.name = "mesh";
  for (const TileSharding& s : shardings) {
    int64_t size = 1;
    for (const MeshAxis& axis : s.mesh) size *= axis.size;
    if (size == devices && s.mesh.size() > mesh.axes.size()) mesh.axes = s.mesh;
  }
  if (!mesh.axes.empty()) return mesh;
  std::set<int64_t> borders = {1, devices};
  for (const TileSharding& s : shardings) {
    if (s.kind != TileSharding::Kind::kTiled) continue;
    const auto walks = split_walks(s);
    if (!walks)
      return fail(ErrorKind::kInvalid, "import_c8",
                  "a sharding lists the devices in an order that no mesh has");
    for (const auto& dim : *walks) {
      for (const Walk& walk : dim) {
        if (walk.size > 1) borders.insert({walk.stride, walk.stride * walk.size});
      }
    }
  }
  Ints sorted(borders.rbegin(), borders.rend());
  for (size_t i = 0; i + 1 < sorted.size(); ++i) {
    if (sorted[i] % sorted[i + 1] != 0) {
      return fail(
          ErrorKind::kInvalid, "import_c8",
          "no single mesh has axes for all the shardings: they divide the devices differently");
    }
    mesh.axes.push_back({fmt::format("a{}", i), sorted[i] / sorted[i + 1]});
  }
  if (mesh.axes.empty()) mesh.axes.push_back({"a0", devices});
  return mesh;
}

std::optional<Sharding> sharding_on(const Mesh& mesh, const TileSharding& s, size_t rank) {
  Sharding out = Sharding::replicated(mesh.name, rank);
  if (s.kind == TileSharding::Kind::kReplicated) return out;
  if (s.kind == TileSharding::Kind::kNamed) {
    if (s.dims.size() != rank) return std::nullopt;
    out.dims = s.dims;
    for (DimSharding& dim : out.dims) {
      for (const AxisRef& axis : dim.axes) {
        const auto at = mesh.axis_index(axis.name);
        const bool same = at && has_axis(mesh, axis) && contains(s.mesh, mesh.axes[*at]);
        if (!same) return std::nullopt;
      }
    }
    return out;
  }
  const auto walks = split_walks(s);
  if (!walks || walks->size() < rank) return std::nullopt;
  for (size_t d = 0; d < rank; ++d) {
    for (const Walk& walk : (*walks)[d]) {
      // The axes with strides inside this walk, major to minor.
      int64_t stride = mesh.size();
      int64_t covered = 1;
      for (const MeshAxis& axis : mesh.axes) {
        stride /= axis.size;
        if (axis.size == 1 || stride < walk.stride || stride >= walk.stride * walk.size) continue;
        out.dims[d].axes.push_back({axis.name, 1, 0});
        covered *= axis.size;
      }
      if (covered != walk.size) return std::nullopt;
    }
  }
  return out;
}

std::optional<std::vector<std::vector<int64_t>>> parse_replica_groups(std::string_view text,
                                                                      int64_t devices) {
  std::vector<std::vector<int64_t>> out;
  if (text.starts_with("mesh[")) {
    Mesh mesh;
    auto axes = named_axes(bracketed(text, 4));
    const size_t brace = text.find('{', 5);
    if (!axes || brace == std::string_view::npos) return std::nullopt;
    mesh.axes = std::move(*axes);
    if (mesh.size() != devices) return std::nullopt;
    const auto refs = axis_refs(bracketed(text, brace));
    for (const AxisRef& ref : refs) {
      if (!has_axis(mesh, ref)) return std::nullopt;
    }
    return groups_over(mesh, refs);
  }
  if (const size_t arrow = text.find("<=");
      arrow != std::string_view::npos && text.starts_with('[')) {
    const Ints shape = integers_in(bracketed(text, 0));
    const auto ids = iota_devices(text.substr(arrow));
    if (!ids || shape.size() != 2 || product_of_all(shape) != static_cast<int64_t>(ids->size()))
      return std::nullopt;
    for (size_t i = 0; i < ids->size(); ++i) {
      if (i % static_cast<size_t>(shape[1]) == 0) out.emplace_back();
      out.back().push_back((*ids)[i]);
    }
    return out;
  }
  if (!text.starts_with('{')) return std::nullopt;
  for (const std::string_view group : split_at_commas(bracketed(text, 0)))
    out.push_back(integers_in(group));
  if (out.empty()) {
    out.emplace_back(static_cast<size_t>(devices));
    std::iota(out[0].begin(), out[0].end(), 0);
  }
  return out;
}

}  // namespace hostir::importer
