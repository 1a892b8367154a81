// 1. Find what the writing instruction read: the members' blocks of a collective
//    (gui/panels/layout/reshard.h), or the operands of a launch.
// 2. Find the last write of each before it, by bisection in the list of that value's writes.
// 3. Repeat for those writes.
#include "gui/panels/history/history_data.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "gui/panels/layout/reshard.h"

namespace hostir::gui {

namespace {

constexpr int kMaxDepth = 6;

using Element = std::optional<std::vector<int64_t>>;
using interp::LogValue;
using interp::LogWrite;

class Builder {
 public:
  Builder(const interp::LogView& log, const interp::ProgramView& program,
          const std::stop_token& stop)
      : log_(log), program_(program), stop_(stop) {}

  Expected<std::vector<SourceRow>> build(const LogValue& write, const Element& element) {
    shown_only_ = log_.shows(write.event);
    HOSTIR_TRY(add_sources(write, element, 0));
    return std::move(rows_);
  }

 private:
  // The writes of one value on one rank, oldest first.
  Expected<const std::vector<LogWrite>*> writes_of(const std::string& name, interp::Rank rank,
                                                   const Element& element) {
    const auto key = std::tuple(name, rank, element.has_value());
    if (const auto known = cache_.find(key); known != cache_.end()) return &known->second;
    std::vector<LogWrite> all;
    interp::WriteFilter filter{
        .value = name, .rank = rank, .element = element, .shown_only = shown_only_};
    while (filter.first_event != std::numeric_limits<int64_t>::max()) {
      HOSTIR_ASSIGN_OR_RETURN(const interp::LogWrites found, log_.find_writes(filter, stop_));
      all.insert(all.end(), found.places.begin(), found.places.end());
      filter.first_event = found.next_event;
    }
    return &(cache_[key] = std::move(all));
  }

  Expected<std::optional<LogValue>> read(const LogWrite& place, const Element& element) {
    HOSTIR_ASSIGN_OR_RETURN(std::vector<LogValue> values,
                            log_.read_writes(std::span(&place, 1), element, stop_));
    if (values.empty()) return std::optional<LogValue>();
    return std::optional<LogValue>(std::move(values.front()));
  }

  // The writes of a buffer on one rank finish in order, so the writes visible to `after` are a
  // prefix: on its own rank by order of issue, on other ranks by time. The members of a collective
  // finish together, so their results are not sources of each other.
  Expected<bool> is_before(const LogWrite& place, const LogValue& after) {
    if (place.rank == after.rank) return place.event < after.event;
    HOSTIR_ASSIGN_OR_RETURN(const auto value, read(place, std::nullopt));
    return value && value->time_ns != interp::kUnknownNs &&
           (after.time_ns == interp::kUnknownNs || value->time_ns < after.time_ns);
  }

  Expected<size_t> count_before(const std::vector<LogWrite>& writes, const LogValue& after) {
    size_t low = 0;
    size_t high = writes.size();
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      HOSTIR_ASSIGN_OR_RETURN(const bool before, is_before(writes[middle], after));
      (before ? low : high) = before ? middle + 1 : middle;
    }
    return low;
  }

  Expected<void> add_sources(const LogValue& w, const Element& element, int depth) {
    if (depth >= kMaxDepth || !program_.code || program_.mnemonic(w.instruction).empty()) return {};
    const interp::Code& code = *program_.code;
    if (const auto move = reshard_of(program_, w.instruction, w.rank)) {
      for (const Transfer& t : move->transfers) {
        if (t.to != w.rank || (element && !t.box.holds(*element))) continue;
        HOSTIR_TRY(add_source(w, move->before.name, t.from, element, depth,
                              move->reduces.empty() ? "block" : "addend"));
      }
      return {};
    }
    // It is not known which operand elements an element of a launch depends on: take whole
    // operands.
    if (depth > 0 && !element) return {};
    const Function& function = *code.functions[code.instructions[w.instruction].function];
    for (const Operand& operand : code.source(w.instruction).operands) {
      if (operand.access != Access::kRead && operand.access != Access::kReadWrite) continue;
      if (operand.value.index >= function.values.size()) continue;
      HOSTIR_TRY(
          add_source(w, function.value(operand.value).name, w.rank, std::nullopt, depth, "reads"));
    }
    return {};
  }

  // Adds the last write of `value` on a rank before `after`.
  Expected<void> add_source(const LogValue& after, const std::string& value, interp::Rank rank,
                            const Element& element, int depth, const std::string& relation) {
    if (rows_.size() >= kMaxSources) return {};
    HOSTIR_ASSIGN_OR_RETURN(const auto* writes, writes_of(value, rank, element));
    HOSTIR_ASSIGN_OR_RETURN(const size_t before, count_before(*writes, after));
    SourceRow row;
    row.depth = depth + 1;
    row.relation = relation;
    row.value = value;
    row.follows = element.has_value();
    row.write.rank = rank;
    row.written = before > 0;
    if (row.written) {
      HOSTIR_ASSIGN_OR_RETURN(auto last, read((*writes)[before - 1], element));
      if (last) row.write = std::move(*last);
      row.newest = before == writes->size();
      row.loop = log_.loop_path(row.write.loop_path);
    }
    const LogValue write = row.write;
    const bool written = row.written;
    rows_.push_back(std::move(row));
    return written ? add_sources(write, element, depth + 1) : Expected<void>{};
  }

  const interp::LogView& log_;
  const interp::ProgramView& program_;
  const std::stop_token& stop_;
  bool shown_only_ = true;  // ignore undone events: they are never sources
  std::vector<SourceRow> rows_;
  std::map<std::tuple<std::string, interp::Rank, bool>, std::vector<LogWrite>> cache_;
};

}  // namespace

Expected<std::vector<SourceRow>> make_sources(const interp::LogView& log,
                                              const interp::ProgramView& program,
                                              const interp::LogValue& write,
                                              const std::vector<int64_t>& element,
                                              const std::stop_token& stop) {
  return Builder(log, program, stop)
      .build(write, element.empty() ? std::nullopt : Element(element));
}

std::string instruction_text(const interp::LogView& log, interp::CodeIndex instruction) {
  const auto& all = log.instructions();
  if (instruction >= all.size()) return {};
  return all[instruction].address + "  " + all[instruction].text;
}

}  // namespace hostir::gui
