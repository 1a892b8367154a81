#include "interp/session/values/live_edit.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/fits.h"
#include "hostir/ir/inline_value.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "hostir/support/number_from.h"
#include "interp/session/commands/rank_selection.h"
#include "interp/session/values/assemble.h"
#include "interp/session/values/live_values.h"

namespace hostir::interp {
namespace {

tl::unexpected<Error> wrong(const char* id, std::string message) {
  return fail(ErrorKind::kUsage, id, std::move(message));
}

Expected<double> number(const std::string& text) {
  if (const auto value = number_from<double>(text)) return *value;
  return wrong("edit_value",
               fmt::format("\"{}\" is neither a number nor a value like 2xf32=[1 2]", text));
}

// The new contents of the slice in the buffer's dtype.
Expected<Tensor> new_contents(const std::string& text, DType dtype, const Box& slice) {
  if (text.find('=') == std::string::npos) {
    HOSTIR_ASSIGN_OR_RETURN(const double value, number(text));
    if (!fits(value, dtype))
      return wrong("edit_value", fmt::format("{} cannot hold {}", name(dtype), text));
    Tensor out = Tensor::zeros(dtype, slice.extents());
    for (int64_t i = 0; i < out.element_count(); ++i) out.set_double(i, value);
    return out;
  }
  std::string inner = text;
  if (inner.size() >= 2 && inner.front() == '"' && inner.back() == '"')
    inner = inner.substr(1, inner.size() - 2);
  HOSTIR_ASSIGN_OR_RETURN(const Tensor value, parse_inline_value(inner));
  if (value.element_count() != slice.volume()) {
    return wrong("edit_value", fmt::format("{} elements for a slice of {}", value.element_count(),
                                           slice.volume()));
  }
  if (const auto at = first_unfit(value, dtype)) {
    return wrong("edit_value",
                 fmt::format("{} cannot hold {}", name(dtype), format_number(value, *at)));
  }
  Tensor out = converted(value, dtype);
  out.extents = slice.extents();
  return out;
}

}  // namespace

Expected<std::vector<Rank>> edited_ranks(const Interpreter& interpreter, const Command& command,
                                         Rank focus) {
  if (command.ranks.kind != RankSelector::Kind::kFocus)
    return select_ranks(command.ranks, interpreter.code().world, interpreter.code().rank_count,
                        focus);
  HOSTIR_ASSIGN_OR_RETURN(const BufferRef here, find_buffer(interpreter, focus, command.value));
  HOSTIR_ASSIGN_OR_RETURN(const Box slice, slice_box(command.slice, here.placement->global));
  std::vector<Rank> out;
  for (Rank r = 0; r < interpreter.code().rank_count; ++r) {
    const auto buffer = find_buffer(interpreter, r, command.value);
    if (buffer && !buffer->placement->box.intersect(slice).empty()) out.push_back(r);
  }
  if (out.empty()) return wrong("edit_value", "no rank holds this part");
  return out;
}

Expected<void> check_editable(const Interpreter& interpreter, const std::string& value, Rank rank) {
  HOSTIR_ASSIGN_OR_RETURN(const BufferRef buffer, find_buffer(interpreter, rank, value));
  const Code& code = interpreter.code();
  for (const AllocationView& a : interpreter.allocations(rank)) {
    if (a.id != buffer.allocation) continue;
    const TaskRecord* writer = interpreter.task(a.written_task);
    for (StreamIndex s = 0; a.version == 0 && !a.parameter && s < code.streams.size(); ++s) {
      for (const TaskRecord* task : interpreter.queue(rank, s)) {
        if (task->code == a.allocated_by) writer = task;
      }
    }
    if (!writer || writer->finished()) continue;
    return wrong("edit_in_flight",
                 fmt::format("%{} on rank {} is being written by {} at {}, which has not completed "
                             "and would overwrite the new value; step until it has",
                             value, rank, record(code.instructions[writer->code].kind).mnemonic,
                             code.address(writer->code)));
  }
  return {};
}

Expected<void> edit_value(History& history, const Command& command, Rank rank) {
  const Interpreter& interpreter = history.interpreter();
  HOSTIR_ASSIGN_OR_RETURN(const BufferRef buffer, find_buffer(interpreter, rank, command.value));
  const Placement placement = *buffer.placement;
  if (!buffer.strides_elems.empty() || !placement.blocks.empty()) {
    return wrong(
        "edit_view",
        fmt::format("%{} is a strided or packed buffer; edit the buffer that it was made from",
                    command.value));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Box slice, slice_box(command.slice, placement.global));
  HOSTIR_ASSIGN_OR_RETURN(const Tensor contents,
                          new_contents(command.text, placement.dtype, slice));
  const Box mine = slice.intersect(placement.box);
  if (mine.empty()) {
    return wrong("edit_value", fmt::format("rank {} holds nothing of this part", rank));
  }
  HOSTIR_ASSIGN_OR_RETURN(Tensor local, interpreter.backend().read(rank, buffer, placement.box));
  copy_region(contents, slice, local, placement.box, mine);
  return history.edit(rank, buffer.allocation, buffer.offset_bytes, local.data);
}

std::string undone_edits(const History& history, uint64_t before) {
  std::vector<Rank> ranks;
  const auto& line = history.line();
  for (uint64_t k = history.position(); k < before && k < line.size(); ++k) {
    if (line[k].kind != DecisionRecord::Kind::kEdit) continue;
    add_once(ranks, line[k].rank);
  }
  if (ranks.empty()) return {};
  std::sort(ranks.begin(), ranks.end());
  return fmt::format("Undid what `set` changed on {}; going forward does it again.\n",
                     ranks_to_string(ranks, history.interpreter().code().rank_count));
}

}  // namespace hostir::interp
