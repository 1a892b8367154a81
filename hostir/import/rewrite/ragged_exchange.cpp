#include "hostir/import/rewrite/ragged_exchange.h"

#include <algorithm>

#include "hostir/import/device/device_ops.h"
#include "hostir/import/rewrite/op_builder.h"

namespace hostir::importer {

namespace {

// Operands: the rows to send, and the rows to write to. Then, per device of the group: the first
// row to send to it, their number, the first row in its result, and the number of rows received
// from it.
enum Operand : size_t { kInput, kOutput, kFirst, kCount, kTarget, kReceived, kOperands };

bool is_ragged(const ModuleOp& op) {
  if (op.name == "stablehlo.ragged_all_to_all") return op.find("async") == nullptr;
  if (op.name != "stablehlo.custom_call") return false;
  const Attr* callee = op.find("callee");
  if (callee == nullptr) callee = op.find("call_target_name");
  return callee != nullptr && callee->text == "ragged_all_to_all";
}

const Attr* groups_in(const ModuleOp& op) {
  for (const std::string_view dict : {"backend_config", "mhlo.backend_config"}) {
    const Attr* config = op.find(dict);
    const Attr* groups = config != nullptr ? config->find("replica_groups") : nullptr;
    if (groups != nullptr) return groups;
  }
  return op.find("replica_groups");
}

// The number of devices in a group; 0 if the operation is malformed.
int64_t devices_of(const ModuleFunction& f, const ModuleOp& op) {
  const Attr* groups = groups_in(op);
  const auto rows = groups != nullptr ? dense_groups(*groups) : std::nullopt;
  if (!rows || rows->empty() || op.operands.size() != kOperands || op.results.size() != 1) return 0;
  const auto devices = static_cast<int64_t>(rows->front().size());
  const bool even = std::all_of(rows->begin(), rows->end(), [&](const auto& group) {
    return static_cast<int64_t>(group.size()) == devices;
  });
  const ModuleType& input = f.type(op.operands[kInput]);
  const ModuleType& output = f.type(op.operands[kOutput]);
  const bool rows_fit =
      !input.dims.empty() && input.dims.size() == output.dims.size() &&
      std::equal(input.dims.begin() + 1, input.dims.end(), output.dims.begin() + 1) &&
      input.element_count() > 0 && output.element_count() > 0 && f.type(op.results[0]) == output &&
      input.element == output.element;
  if (!even || !rows_fit) return 0;
  for (size_t i = kFirst; i < kOperands; ++i) {
    const ModuleType& type = f.type(op.operands[i]);
    const bool integers = type.element == "i32" || type.element == "i64";
    if (!integers || type.dims != std::vector<int64_t>{devices}) return 0;
  }
  return devices;
}

class Exchange {
 public:
  Exchange(ModuleFunction& f, const ModuleOp& op, int64_t devices, std::vector<ModuleOp>& out)
      : op_(op),
        b_(f, out, op.span, "ragged"),
        devices_(devices),
        input_(f.type(op.operands[kInput])),
        output_(f.type(op.operands[kOutput])),
        table_(tensor_type("i32", {devices, output_.dims.front()})),
        row_(tensor_type("i32", {output_.dims.front()})) {}

  // Appends the operations; the last one gives the result.
  void write() {
    ModuleType all = input_;
    all.dims.front() *= devices_;
    const ValueNumber rows = b_.op("stablehlo.all_gather", {op_.operands[kInput]}, all,
                                   {{"all_gather_dim", Attr::of_int(0)}, groups()});
    const ValueNumber first = from_each(kFirst);
    const ValueNumber count = from_each(kCount);
    const ValueNumber target = from_each(kTarget);
    // By sender and row of the result: the number of the row among the sender's rows, and among all
    // rows.
    const ValueNumber place = b_.sub(numbers(1), target);
    const ValueNumber sender =
        b_.mul(numbers(0), b_.all_equal(static_cast<double>(input_.dims.front()), table_));
    const ValueNumber source = b_.add(b_.add(sender, first), place);
    const ValueNumber after = compared(place, b_.all_equal(0, table_), "GE", table_);
    const ValueNumber before = compared(place, count, "LT", table_);
    const ValueNumber sent = b_.convert(b_.op("stablehlo.and", {after, before}), "i32");
    const ValueNumber chosen = summed(b_.mul(source, sent));
    const ValueNumber is_sent = compared(summed(sent), b_.all_equal(0, row_), "GT", row_);
    ModuleType wide = output_;
    wide.element = "i1";
    const ValueNumber everywhere = b_.op("stablehlo.broadcast_in_dim", {is_sent}, wide,
                                         {{"broadcast_dimensions", Attr::of_ints({0})}});
    b_.op("stablehlo.select", {everywhere, picked(rows, chosen), op_.operands[kOutput]}, output_);
  }

 private:
  NamedAttr groups() const { return {"replica_groups", *groups_in(op_)}; }

  // The number that each sender has for this device, repeated for each row of the result.
  ValueNumber from_each(Operand operand) {
    const ValueNumber mine = b_.convert(op_.operands[operand], "i32");
    const ValueNumber theirs = b_.op("stablehlo.all_to_all", {mine}, b_.type(mine),
                                     {{"split_dimension", Attr::of_int(0)},
                                      {"concat_dimension", Attr::of_int(0)},
                                      {"split_count", Attr::of_int(devices_)},
                                      groups()});
    return b_.op("stablehlo.broadcast_in_dim", {theirs}, table_,
                 {{"broadcast_dimensions", Attr::of_ints({0})}});
  }

  ValueNumber numbers(int64_t dim) {
    return b_.op("stablehlo.iota", {}, table_, {{"iota_dimension", Attr::of_int(dim)}});
  }

  ValueNumber compared(ValueNumber a, ValueNumber b, const char* direction, ModuleType type) {
    type.element = "i1";
    return b_.op("stablehlo.compare", {a, b}, std::move(type),
                 {{"comparison_direction", Attr::of_word(direction)}});
  }

  // Sums over the senders, of which at most one sends a given row.
  ValueNumber summed(ValueNumber x) {
    const ValueNumber zero = b_.all_equal(0, tensor_type("i32", {}));
    return b_.op("stablehlo.reduce", {x, zero}, row_,
                 {{"applies", Attr::of_word("stablehlo.add")}, {"dimensions", Attr::of_ints({0})}});
  }

  ValueNumber picked(ValueNumber rows, ValueNumber places) {
    const ValueNumber column =
        b_.op("stablehlo.reshape", {places}, tensor_type("i32", {output_.dims.front(), 1}));
    std::vector<int64_t> offsets;
    for (size_t d = 1; d < output_.dims.size(); ++d) offsets.push_back(static_cast<int64_t>(d));
    std::vector<int64_t> sizes = output_.dims;
    sizes.front() = 1;
    Attr dims;
    dims.kind = Attr::Kind::kDict;
    dims.fields = {{"offset_dims", Attr::of_ints(offsets)},
                   {"collapsed_slice_dims", Attr::of_ints({0})},
                   {"start_index_map", Attr::of_ints({0})},
                   {"index_vector_dim", Attr::of_ints({1})}};
    return b_.op("stablehlo.gather", {rows, column}, output_,
                 {{"dimension_numbers", std::move(dims)}, {"slice_sizes", Attr::of_ints(sizes)}});
  }

  const ModuleOp& op_;
  OpBuilder b_;
  int64_t devices_;
  ModuleType input_;
  ModuleType output_;
  ModuleType table_;  // by sender and row of the result
  ModuleType row_;    // by row of the result
};

bool holds_ragged(const ModuleBlock& block) {
  return std::any_of(block.ops.begin(), block.ops.end(), [](const ModuleOp& op) {
    return is_ragged(op) || std::any_of(op.regions.begin(), op.regions.end(), holds_ragged);
  });
}

void rewrite(ModuleFunction& f, ModuleBlock& block) {
  std::vector<ModuleOp> out;
  for (ModuleOp& op : block.ops) {
    for (ModuleBlock& region : op.regions) rewrite(f, region);
    const int64_t devices = is_ragged(op) ? devices_of(f, op) : 0;
    if (devices == 0) {
      out.push_back(std::move(op));
      continue;
    }
    Exchange(f, op, devices, out).write();
    out.back().results = op.results;
  }
  block.ops = std::move(out);
}

}  // namespace

void write_out_ragged_exchanges(Module& module) {
  for (ModuleFunction& f : module.functions) {
    if (!holds_ragged(f.body)) continue;
    rewrite(f, f.body);
    count_uses(f);
  }
}

}  // namespace hostir::importer
