// 1. All writes of the tensor, oldest first. 2. For each, what its instruction took: members'
// blocks of a collective (gui/panels/reshard.h), operands that a launch reads. 3. The last write of
// that before it, and so on, to a depth and a number of rows that a person can read.
#include "gui/panels/history_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "gui/panels/reshard.h"

namespace hostir::gui {

namespace {

constexpr int kMaxDepth = 6;
constexpr size_t kMaxRows = 4000;

using Element = std::optional<std::vector<int64_t>>;

class Builder {
 public:
  Builder(const interp::LogView& log, const interp::ProgramView& program,
          const std::stop_token& stop)
      : log_(log), program_(program), stop_(stop) {}

  Expected<HistoryData> build(const HistoryKey& key) {
    const Element element = key.element.empty() ? std::nullopt : Element(key.element);
    HOSTIR_ASSIGN_OR_RETURN(const auto* writes, writes_of(key.value, element));
    data_.known = writes != nullptr;
    if (!writes) return data_;
    data_.writes = writes->size();
    for (const interp::LogValue& w : *writes) HOSTIR_TRY(add(w, key.value, element, 0, ""));
    mark_newest();
    return std::move(data_);
  }

 private:
  // Of all tensors of that name; null where the log knows none.
  Expected<const std::vector<interp::LogValue>*> writes_of(const std::string& name,
                                                           const Element& element) {
    const auto key = std::pair(name, element.value_or(std::vector<int64_t>{-1}));
    if (const auto known = cache_.find(key); known != cache_.end()) return &known->second;
    bool found = false;
    std::vector<interp::LogValue> all;
    for (const interp::LogTensor& tensor : log_.tensors()) {
      if (tensor.name != name) continue;
      found = true;
      const bool fits = element && element->size() == tensor.extents.size();
      HOSTIR_ASSIGN_OR_RETURN(auto writes, log_.writes(tensor.id, interp::kNoRank,
                                                       fits ? element : std::nullopt, stop_));
      all.insert(all.end(), writes.begin(), writes.end());
    }
    // Versions of one buffer are tensors of one name, and each may answer with all its writes.
    const auto key_of = [](const interp::LogValue& w) { return std::pair(w.event, w.rank); };
    std::stable_sort(all.begin(), all.end(),
                     [&](const auto& a, const auto& b) { return key_of(a) < key_of(b); });
    all.erase(std::unique(all.begin(), all.end(),
                          [&](const auto& a, const auto& b) { return key_of(a) == key_of(b); }),
              all.end());
    if (!found) return nullptr;
    return &(cache_[key] = std::move(all));
  }

  Expected<void> add(const interp::LogValue& w, const std::string& value, const Element& element,
                     int depth, std::string relation) {
    HistoryRow row;
    row.depth = depth;
    row.relation = std::move(relation);
    row.value = value;
    row.write = w;
    row.follows = element.has_value();
    const auto& all = log_.instructions();
    if (w.instruction < all.size())
      row.instruction = all[w.instruction].address + "  " + all[w.instruction].text;
    row.loop = log_.loop_path(w.loop_path);
    data_.rows.push_back(std::move(row));
    if (data_.rows.size() >= kMaxRows) {
      ++data_.cut;
      return {};
    }
    return depth < kMaxDepth ? add_sources(w, element, depth) : Expected<void>{};
  }

  void mark_newest() {
    std::map<std::pair<std::string, interp::Rank>, int64_t> last;
    for (const HistoryRow& row : data_.rows) {
      const auto at = last.try_emplace({row.value, row.write.rank}, row.write.event).first;
      at->second = std::max(at->second, row.write.event);
    }
    for (HistoryRow& row : data_.rows)
      row.newest = last.at({row.value, row.write.rank}) == row.write.event;
  }

  Expected<void> add_sources(const interp::LogValue& w, const Element& element, int depth) {
    const interp::Code& code = *program_.code;
    if (w.instruction >= code.instructions.size() ||
        code.instructions[w.instruction].role != interp::CodeRole::kInstruction)
      return {};
    if (const auto move = reshard_of(code, w.instruction, w.rank)) {
      for (const Transfer& t : move->transfers) {
        if (t.to != w.rank || (element && !holds(t.box, *element))) continue;
        HOSTIR_TRY(add_source(w, move->before.name, t.from, element, depth,
                              move->reduces.empty() ? "block" : "addend"));
      }
      return {};
    }
    // What an element of a launch depends on inside its operands is not known: the whole operand.
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

  // The last write of `value` on a rank before `after` was issued.
  Expected<void> add_source(const interp::LogValue& after, const std::string& value,
                            interp::Rank rank, const Element& element, int depth,
                            const std::string& relation) {
    HOSTIR_ASSIGN_OR_RETURN(const auto* writes, writes_of(value, element));
    const interp::LogValue* last = nullptr;
    if (writes) {
      for (const interp::LogValue& w : *writes) {
        if (w.rank != rank || w.event == after.event) continue;
        // The members of a collective finish together: their results are not each other's sources.
        const bool before = w.rank == after.rank ? w.event < after.event
                                                 : w.time_ns != interp::kUnknownNs &&
                                                       (after.time_ns == interp::kUnknownNs ||
                                                        w.time_ns < after.time_ns);
        if (before && (!last || w.event > last->event)) last = &w;
      }
    }
    if (last) return add(*last, value, element, depth + 1, relation);
    HistoryRow row;
    row.depth = depth + 1;
    row.relation = relation;
    row.value = value;
    row.write.rank = rank;
    row.written = false;
    row.follows = element.has_value();
    data_.rows.push_back(std::move(row));
    return {};
  }

  const interp::LogView& log_;
  const interp::ProgramView& program_;
  const std::stop_token& stop_;
  HistoryData data_;
  std::map<std::pair<std::string, std::vector<int64_t>>, std::vector<interp::LogValue>> cache_;
};

}  // namespace

Expected<HistoryData> make_history(const interp::LogView& log, const interp::ProgramView& program,
                                   const HistoryKey& key, const std::stop_token& stop) {
  return Builder(log, program, stop).build(key);
}

}  // namespace hostir::gui
