// Tensors and shards: every buffer name of the host program with every layout that it has.

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "traces/compression.h"
#include "traces/row_inserter.h"
#include "traces/static_rows.h"

namespace hostir::traces {

using interp::Code;
using interp::CodeIndex;
using interp::CodeInstruction;
using interp::LayoutIndex;

int64_t TensorIndex::written(CodeIndex code, size_t n) const {
  return code < sites_.size() && n < sites_[code].written.size() ? sites_[code].written[n] : -1;
}
int64_t TensorIndex::sent(CodeIndex code) const {
  return code < sites_.size() ? sites_[code].read : -1;
}

std::string_view TensorIndex::name(int64_t tensor) const {
  const auto index = static_cast<size_t>(tensor);
  return tensor >= 0 && index < names_.size() ? std::string_view(names_[index])
                                              : std::string_view();
}

/// Makes the rows while it walks the program. Calls that are inlined twice share their names.
class TensorRows {
 public:
  TensorRows(Database& database, const Code& code) : database_(database), code_(code) {}

  Expected<void> prepare() {
    HOSTIR_ASSIGN_OR_RETURN(
        tensor_, database_.prepare("INSERT INTO tensor (id, content_key, function, name, role, "
                                   "dtype, shape, sharding) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
    HOSTIR_ASSIGN_OR_RETURN(
        shard_, database_.prepare("INSERT INTO shard (tensor, rank, offset, local_shape, bytes) "
                                  "VALUES (?, ?, ?, ?, ?)"));
    return {};
  }

  Expected<TensorIndex> write() {
    TensorIndex index;
    for (const interp::RegisterInfo& info : code_.registers) {
      if (info.buffer) HOSTIR_TRY(row(info.function, info.value, info.layout));
    }
    index.sites_.resize(code_.instructions.size());
    for (CodeIndex i = 0; i < code_.instructions.size(); ++i) {
      HOSTIR_TRY(write_site(code_.instructions[i], index.sites_[i]));
    }
    index.names_ = std::move(names_);
    return index;
  }

 private:
  Expected<void> write_site(const CodeInstruction& c, TensorIndex::Site& site) {
    const Function& function = *code_.functions[c.function];
    const Instruction& source = function.instr(c.instr);
    // An alloc writes what it makes.
    const bool makes = c.result_layout != interp::kNoLayout && !source.results.empty() &&
                       source.operands.size() == c.operands.size();
    for (size_t k = 0; k < source.operands.size() && k < c.layouts.size(); ++k) {
      const Operand& operand = source.operands[k];
      if (operand.access == Access::kUse || !operand.value.valid()) continue;
      const bool writes = operand.access != Access::kRead;
      const bool changes = k < c.becomes.size() && c.becomes[k] != interp::kNoLayout;
      HOSTIR_ASSIGN_OR_RETURN(const int64_t before, row(c.function, operand.value, c.layouts[k]));
      if (site.read < 0 && operand.access != Access::kWrite) site.read = before;
      if (!writes) continue;
      HOSTIR_ASSIGN_OR_RETURN(
          const int64_t after,
          changes ? row(c.function, operand.value, c.becomes[k]) : Expected<int64_t>(before));
      site.written.push_back(after);
    }
    if (makes && site.written.empty()) {
      HOSTIR_ASSIGN_OR_RETURN(const int64_t made,
                              row(c.function, source.results[0], c.result_layout));
      site.written.push_back(made);
    }
    return {};
  }

  std::string_view role(const Function& function, ValueId value) const {
    for (const Parameter& parameter : function.params) {
      if (parameter.value == value) return "parameter";
    }
    const InstrId made_by = function.value(value).defined_by;
    if (!made_by.valid()) return "buffer";
    const OpRecord& op = record(function.instr(made_by).kind);
    return !op.results.empty() && op.results[0].name == "view" ? "view" : "buffer";
  }

  /// The tensor's id; makes its rows when it is new. -1 where the layout is not known.
  Expected<int64_t> row(uint32_t function_index, ValueId value, LayoutIndex layout) {
    if (layout >= code_.layouts.size()) return -1;
    const Function& function = *code_.functions[function_index];
    const interp::LayoutTable& table = code_.layouts[layout];
    const std::string name = function.value(value).name;
    const std::string key = fmt::format("{}/{}/{}", function.name, name, to_string(table.type));
    const auto [entry, added] = ids_.emplace(key, static_cast<int64_t>(ids_.size()));
    if (!added) return entry->second;
    names_.push_back(name);

    const int64_t id = entry->second;
    const DType dtype = dtype_of(table.type);
    const std::string shape =
        table.by_rank.empty() ? std::string() : extents_text(table.by_rank[0].global);
    const Sharding* sharding = sharding_of(table.type);
    const std::string sharding_text = sharding != nullptr ? sharding->to_string() : "";
    tensor_.bind_int(1, id);
    tensor_.bind_int(2, static_cast<int64_t>(digest_of(key)));
    tensor_.bind_text(3, function.name);
    tensor_.bind_text(4, name);
    tensor_.bind_text(5, role(function, value));
    tensor_.bind_text(6, hostir::name(dtype));
    table.by_rank.empty() ? tensor_.bind_null(7) : tensor_.bind_text(7, shape);
    sharding != nullptr ? tensor_.bind_text(8, sharding_text) : tensor_.bind_null(8);
    HOSTIR_TRY(tensor_.run());
    HOSTIR_TRY(write_shards(id, table));
    return id;
  }

  Expected<void> write_shards(int64_t id, const interp::LayoutTable& table) {
    for (size_t rank = 0; rank < table.by_rank.size(); ++rank) {
      const Placement& placement = table.by_rank[rank];
      const std::string offset = extents_text(placement.box.lo);
      const std::string local = extents_text(placement.local());
      shard_.bind_int(1, id);
      shard_.bind_int(2, static_cast<int64_t>(rank));
      shard_.bind_text(3, offset);
      shard_.bind_text(4, local);
      shard_.bind_int(5, placement.local_bytes());
      HOSTIR_TRY(shard_.run());
    }
    return {};
  }

  Database& database_;
  const Code& code_;
  Statement tensor_;
  Statement shard_;
  std::map<std::string, int64_t> ids_;
  std::vector<std::string> names_;
};

Expected<TensorIndex> write_tensor_rows(Database& database, const RunDescription& run) {
  TensorRows rows(database, *run.code);
  HOSTIR_TRY(rows.prepare());
  return rows.write();
}

}  // namespace hostir::traces
