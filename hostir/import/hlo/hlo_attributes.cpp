#include "hostir/import/hlo/hlo_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "hostir/import/rewrite/tile_sharding.h"

namespace hostir::importer {

namespace {

tl::unexpected<Error> wrong(const HloInstruction& i, std::string message) {
  return fail_at(ErrorKind::kInvalid, "import_c2", i.opcode + ": " + std::move(message), i.span);
}

void set_ints(ModuleOp& op, std::string name, std::vector<int64_t> values) {
  op.attributes.emplace_back(std::move(name), Attr::of_ints(values));
}

std::vector<int64_t> row_major(const HloShape& shape) {
  std::vector<int64_t> out(shape.minor_to_major.rbegin(), shape.minor_to_major.rend());
  if (out.size() != shape.type.dims.size()) {
    out.clear();
    for (size_t d = 0; d < shape.type.dims.size(); ++d) out.push_back(static_cast<int64_t>(d));
  }
  return out;
}

std::string shape_text(const HloShape& shape) {
  return fmt::format("{}[{}]{{{}{}{}}}", shape.type.element, fmt::join(shape.type.dims, ","),
                     fmt::join(shape.minor_to_major, ","), shape.tiles.empty() ? "" : ":",
                     shape.tiles);
}

// Whether a bitcast between two arrays keeps the order of elements within tiles. It does if neither
// has tiles, or if both have the same tiles over minor dimensions of equal sizes.
bool same_tiles(const HloShape& a, const HloShape& b) {
  if (a.tiles != b.tiles) return false;
  if (a.tiles.empty()) return true;
  const std::string_view first = std::string_view(a.tiles).substr(0, a.tiles.find(')'));
  const size_t tiled = integers_in(first).size();
  const auto order_a = row_major(a);
  const auto order_b = row_major(b);
  if (order_a.size() < tiled || order_b.size() < tiled) return false;
  for (size_t k = 1; k <= tiled; ++k) {
    const auto d = static_cast<size_t>(order_a[order_a.size() - k]);
    const auto e = static_cast<size_t>(order_b[order_b.size() - k]);
    if (d >= a.type.dims.size() || e >= b.type.dims.size() || a.type.dims[d] != b.type.dims[e])
      return false;
  }
  return true;
}

void slice(ModuleOp& op, const HloInstruction& i) {
  std::vector<int64_t> start, limit, stride;
  std::string_view text = i.attribute("slice");
  for (size_t open = text.find('['); open != std::string_view::npos;
       open = text.find('[', open + 1)) {
    const auto range = integers_in(text.substr(open, text.find(']', open) - open));
    if (range.size() < 2) continue;
    start.push_back(range[0]);
    limit.push_back(range[1]);
    stride.push_back(range.size() > 2 ? range[2] : 1);
  }
  set_ints(op, "start_indices", start);
  set_ints(op, "limit_indices", limit);
  set_ints(op, "strides", stride);
}

// `0_1x0_0_2` is low_high[_interior] per dimension.
void pad(ModuleOp& op, const HloInstruction& i) {
  std::vector<int64_t> low, high, interior;
  std::string_view text = i.attribute("padding");
  while (!text.empty()) {
    const size_t end = std::min(text.find('x'), text.size());
    std::string one(text.substr(0, end));
    std::replace(one.begin(), one.end(), '_', ' ');
    const auto numbers = integers_in(one);
    if (numbers.size() < 2) break;
    low.push_back(numbers[0]);
    high.push_back(numbers[1]);
    interior.push_back(numbers.size() > 2 ? numbers[2] : 0);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  set_ints(op, "low", low);
  set_ints(op, "high", high);
  set_ints(op, "interior", interior);
}

// The numbers of one part of a window, dimension by dimension. A window is written as
// `size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=1x2 rhs_dilate=1x1 rhs_reversal=1x0`.
std::vector<int64_t> window_numbers(std::string_view window, std::string_view part) {
  for (size_t at = window.find(part); at != std::string_view::npos;
       at = window.find(part, at + 1)) {
    const bool starts = at == 0 || window[at - 1] == ' ' || window[at - 1] == '{';
    const size_t value = at + part.size();
    if (!starts || value >= window.size() || window[value] != '=') continue;
    return integers_in(window.substr(value, window.find_first_of(" }", value) - value));
  }
  return {};
}

void window(ModuleOp& op, const HloInstruction& i) {
  const std::string_view text = i.attribute("window");
  const auto set = [&](std::string name, std::string_view part) {
    auto numbers = window_numbers(text, part);
    if (!numbers.empty()) set_ints(op, std::move(name), std::move(numbers));
  };
  set("window_dimensions", "size");
  set("window_strides", "stride");
  set("padding", "pad");
  set("base_dilations", "lhs_dilate");
  set("window_dilations", "rhs_dilate");
  set("window_reversal", "rhs_reversal");
}

void integer(ModuleOp& op, const HloInstruction& i, std::string name) {
  const auto numbers = integers_in(i.attribute(name));
  if (numbers.size() == 1) op.attributes.emplace_back(std::move(name), Attr::of_int(numbers[0]));
}

void dot(ModuleOp& op, const HloInstruction& i) {
  const auto two = [&](std::string name, std::string_view left, std::string_view right) {
    Attr lists;
    lists.kind = Attr::Kind::kList;
    lists.items = {Attr::of_ints(integers_in(i.attribute(left))),
                   Attr::of_ints(integers_in(i.attribute(right)))};
    op.attributes.emplace_back(std::move(name), std::move(lists));
  };
  two("batching_dims", "lhs_batch_dims", "rhs_batch_dims");
  two("contracting_dims", "lhs_contracting_dims", "rhs_contracting_dims");
}

void indexing(ModuleOp& op, const HloInstruction& i) {
  Attr numbers;
  numbers.kind = Attr::Kind::kDict;
  for (const std::string_view key :
       {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
        "start_indices_batching_dims", "start_index_map", "index_vector_dim", "update_window_dims",
        "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims"}) {
    const std::string_view text = i.attribute(key);
    if (!text.empty())
      numbers.fields.emplace_back(std::string(key), Attr::of_ints(integers_in(text)));
  }
  const bool is_gather = op.name == "stablehlo.gather";
  op.attributes.emplace_back(is_gather ? "dimension_numbers" : "scatter_dimension_numbers",
                             std::move(numbers));
  if (is_gather) set_ints(op, "slice_sizes", integers_in(i.attribute("slice_sizes")));
}

Attr table(const std::vector<std::vector<int64_t>>& rows) {
  size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  Attr attr;
  attr.kind = Attr::Kind::kLiteral;
  attr.literal.emplace();
  attr.literal->type =
      tensor_type("i64", {static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns)});
  attr.literal->data = Tensor::zeros(DType::kI64, attr.literal->type.dims);
  int64_t at = 0;
  for (const auto& row : rows) {
    for (size_t c = 0; c < columns; ++c)
      attr.literal->data->set_int(at++, c < row.size() ? row[c] : -1);
  }
  return attr;
}

bool is_collective(std::string_view name) {
  for (const std::string_view one :
       {"stablehlo.all_reduce", "stablehlo.all_gather", "stablehlo.reduce_scatter",
        "stablehlo.all_to_all", "stablehlo.collective_permute", "stablehlo.collective_broadcast",
        "stablehlo.ragged_all_to_all"}) {
    if (name == one) return true;
  }
  return false;
}

// Rewrites groups of replicas as groups of devices. Without a channel, ids are replicas; there is
// one replica, so every device is alone. With a channel but without `use_global_device_ids`, ids
// are replicas too, but a group has all their devices. Otherwise ids are devices.
void devices_of_replicas(std::vector<std::vector<int64_t>>& groups, const ModuleOp& op,
                         const HloInstruction& i, int64_t partitions) {
  const bool replicas = std::all_of(groups.begin(), groups.end(), [](const auto& group) {
    return group == std::vector<int64_t>{0};
  });
  if (!replicas || i.attribute("use_global_device_ids") == "true") return;
  const bool channel = !i.attribute("channel_id").empty();
  const bool moves = op.name == "stablehlo.all_to_all" ||
                     op.name == "stablehlo.collective_broadcast" ||
                     op.name == "stablehlo.ragged_all_to_all";
  if (channel && moves) return;
  groups.clear();
  if (channel) groups.emplace_back();
  for (int64_t device = 0; device < partitions; ++device) {
    if (!channel) groups.emplace_back();
    groups.back().push_back(device);
  }
}

Expected<void> collective(ModuleOp& op, const HloInstruction& i, int64_t partitions) {
  if (!is_collective(op.name)) return {};
  const std::string_view groups = i.attribute("replica_groups");
  if (op.name != "stablehlo.collective_permute") {
    auto parsed = parse_replica_groups(groups.empty() ? "{}" : groups, partitions);
    if (!parsed)
      return wrong(i, "replica_groups=" + std::string(groups) + " is in an unknown form");
    if (groups == "{}" || groups.empty()) parsed->clear();
    devices_of_replicas(*parsed, op, i, partitions);
    op.attributes.emplace_back("replica_groups", table(*parsed));
  }
  const auto dims = integers_in(i.attribute("dimensions"));
  const auto dim = [&](std::string name) {
    if (dims.size() == 1) op.attributes.emplace_back(std::move(name), Attr::of_int(dims[0]));
  };
  if (op.name == "stablehlo.all_gather") dim("all_gather_dim");
  if (op.name == "stablehlo.reduce_scatter") dim("scatter_dimension");
  if (op.name == "stablehlo.all_to_all") {
    dim("split_dimension");
    dim("concat_dimension");
  }
  if (op.name == "stablehlo.collective_permute") {
    const auto ids = integers_in(i.attribute("source_target_pairs"));
    std::vector<std::vector<int64_t>> pairs;
    for (size_t p = 0; p + 1 < ids.size(); p += 2) pairs.push_back({ids[p], ids[p + 1]});
    if (i.attribute("channel_id").empty() && pairs == std::vector<std::vector<int64_t>>{{0, 0}}) {
      for (int64_t device = 1; device < partitions; ++device) pairs.push_back({device, device});
    }
    op.attributes.emplace_back("source_target_pairs", table(pairs));
  }
  return {};
}

// Parses one scalar of a literal; false if it is not a value of the dtype.
bool store(Tensor& data, int64_t at, std::string_view text) {
  if (text == "true" || text == "false") {
    data.set_int(at, text == "true" ? 1 : 0);
    return true;
  }
  if (is_float(data.dtype)) {
    double value = 0;
    if (text == "inf")
      value = std::numeric_limits<double>::infinity();
    else if (text == "-inf")
      value = -std::numeric_limits<double>::infinity();
    else if (text.find("nan") != std::string_view::npos)
      value = std::numeric_limits<double>::quiet_NaN();
    else if (std::from_chars(text.data(), text.data() + text.size(), value).ec ==
             std::errc::invalid_argument)
      return false;
    data.set_double(at, value);
    return true;
  }
  int64_t value = 0;
  const auto [rest, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
  uint64_t bits = 0;
  if (bad == std::errc::result_out_of_range) {
    if (std::from_chars(text.data(), text.data() + text.size(), bits).ec != std::errc())
      return false;
    value = static_cast<int64_t>(bits);
  } else if (bad != std::errc() || rest != text.data() + text.size()) {
    return false;
  }
  data.set_int(at, value);
  return true;
}

// Reads a literal like `5`, `{1, 2}`, `{ { 1 }, { 2 } }`, `inf` or `true`. `{...}` means that the
// text leaves out the data.
Expected<void> constant(ModuleOp& op, const HloInstruction& i) {
  Attr attr;
  attr.kind = Attr::Kind::kLiteral;
  attr.literal.emplace();
  attr.literal->type = i.shape.type;
  ModuleType elements = part_of(i.shape.type);
  if (is_complex(i.shape.type)) elements.dims.push_back(2);
  const auto dtype = elements.dtype();
  const int64_t count = elements.element_count();
  std::vector<std::string_view> scalars;
  std::string_view text = i.literal;
  const bool elided = text.find("...") != std::string_view::npos || is_only_stored(i.shape.type);
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    const bool part =
        at < text.size() && std::string_view(" {}(),\t").find(text[at]) == std::string_view::npos;
    if (part) continue;
    std::string_view scalar = text.substr(begin, at - begin);
    if (!scalar.empty() && !scalar.starts_with("/*")) scalars.push_back(scalar);
    begin = at + 1;
  }
  if (dtype && !elided && count == static_cast<int64_t>(scalars.size())) {
    Tensor data = Tensor::zeros(*dtype, elements.dims);
    for (size_t n = 0; n < scalars.size(); ++n) {
      if (!store(data, static_cast<int64_t>(n), scalars[n])) {
        return wrong(
            i, "\"" + std::string(scalars[n]) + "\" is not a value of " + i.shape.type.element);
      }
    }
    attr.literal->data = std::move(data);
    if (i.shape.type.dims.empty()) attr.literal->splat = true;
  } else if (dtype && !elided) {
    return wrong(i, fmt::format("{} elements are written, {} are needed", scalars.size(), count));
  }
  op.attributes.emplace_back("value", std::move(attr));
  return {};
}

// `backend_config={uplo = 76 : ui8, lower = true}`: integers and booleans.
void configuration(ModuleOp& op, const HloInstruction& i) {
  std::string_view text = i.attribute("backend_config");
  const auto trimmed = [](std::string_view word) {
    const size_t begin = word.find_first_not_of(" {");
    if (begin == std::string_view::npos) return std::string_view();
    return word.substr(begin, word.find_first_of(" }", begin) - begin);
  };
  Attr config;
  config.kind = Attr::Kind::kDict;
  while (!text.empty()) {
    const std::string_view field = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), field.size() + 1));
    const size_t equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = trimmed(field.substr(equals + 1));
    int64_t number = value == "true" ? 1 : 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    config.fields.emplace_back(trimmed(field.substr(0, equals)), Attr::of_int(number));
  }
  op.attributes.emplace_back("backend_config", std::move(config));
}

}  // namespace

Expected<void> convert_attributes(ModuleOp& op, const HloInstruction& i, const HloComputation& c,
                                  int64_t partitions) {
  const auto ints = [&](std::string_view key) { return integers_in(i.attribute(key)); };
  const std::string& name = op.name;
  if (i.opcode == "constant") return constant(op, i);
  if (name == "stablehlo.broadcast_in_dim")
    set_ints(op, "broadcast_dimensions", ints("dimensions"));
  if (name == "stablehlo.transpose") set_ints(op, "permutation", ints("dimensions"));
  if (name == "stablehlo.reverse" || name == "stablehlo.reduce" ||
      name == "stablehlo.get_dimension_size")
    set_ints(op, "dimensions", ints("dimensions"));
  if (name == "stablehlo.concatenate" || name == "stablehlo.sort") {
    const auto dims = ints("dimensions");
    if (dims.size() == 1) op.attributes.emplace_back("dimension", Attr::of_int(dims[0]));
  }
  if (name == "stablehlo.iota") {
    const auto dims = ints("iota_dimension");
    op.attributes.emplace_back("iota_dimension", Attr::of_int(dims.empty() ? 0 : dims[0]));
  }
  if (name == "stablehlo.compare") {
    op.attributes.emplace_back("comparison_direction",
                               Attr::of_word(std::string(i.attribute("direction"))));
    if (!i.attribute("type").empty())
      op.attributes.emplace_back("compare_type", Attr::of_word(std::string(i.attribute("type"))));
  }
  if (name == "stablehlo.slice") slice(op, i);
  if (name == "stablehlo.dynamic_slice") set_ints(op, "slice_sizes", ints("dynamic_slice_sizes"));
  if (name == "stablehlo.pad") pad(op, i);
  if (name == "chlo.top_k")
    op.attributes.emplace_back("largest", Attr::of_int(i.attribute("largest") == "false" ? 0 : 1));
  if (name == "stablehlo.dot_general") dot(op, i);
  if (name == "stablehlo.gather" || name == "stablehlo.scatter") indexing(op, i);
  if (name == "hlo.bitcast") {
    const HloInstruction* from = i.operands.size() == 1 ? c.find(i.operands[0]) : nullptr;
    if (from == nullptr || from->shape.is_tuple()) return wrong(i, "its operand is not an array");
    if (!same_tiles(from->shape, i.shape)) {
      return fail_at(ErrorKind::kInvalid, "import_c8",
                     fmt::format("%{} is a bitcast from {} to {}: it rearranges elements in tiles, "
                                 "which is not followed",
                                 i.name, shape_text(from->shape), shape_text(i.shape)),
                     i.span);
    }
    set_ints(op, "from", row_major(from->shape));
    set_ints(op, "to", row_major(i.shape));
  }
  if (name == "stablehlo.reduce_window" || name == "stablehlo.select_and_scatter" ||
      name == "stablehlo.convolution") {
    window(op, i);
  }
  if (name == "stablehlo.convolution") {
    op.attributes.emplace_back("dim_numbers",
                               Attr::of_word(std::string(i.attribute("dim_labels"))));
    integer(op, i, "feature_group_count");
    integer(op, i, "batch_group_count");
  }
  if (name == "stablehlo.reduce_precision") {
    integer(op, i, "exponent_bits");
    integer(op, i, "mantissa_bits");
  }
  if (name == "stablehlo.fft") {
    op.attributes.emplace_back("fft_type", Attr::of_word(std::string(i.attribute("fft_type"))));
    set_ints(op, "fft_length", ints("fft_length"));
  }
  if (name == "stablehlo.rng_bit_generator")
    op.attributes.emplace_back("algorithm", Attr::of_word(std::string(i.attribute("algorithm"))));
  if (name == "stablehlo.custom_call") {
    std::string target(i.attribute("custom_call_target"));
    std::erase(target, '"');
    op.attributes.emplace_back("callee", Attr::of_word(std::move(target)));
    configuration(op, i);
  }
  if (name == "stablehlo.cholesky" || name == "stablehlo.triangular_solve") {
    for (const std::string_view key : {"lower", "left_side", "unit_diagonal"}) {
      if (!i.attribute(key).empty())
        op.attributes.emplace_back(key, Attr::of_int(i.attribute(key) == "true" ? 1 : 0));
    }
    op.attributes.emplace_back("transpose_a",
                               Attr::of_word(std::string(i.attribute("transpose_a"))));
  }
  return collective(op, i, partitions);
}

}  // namespace hostir::importer
