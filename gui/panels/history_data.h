// The writes of a tensor or element, and for each where its value came from: through collectives to
// the other ranks' addends and blocks, through launches to what they read.
//
// Made from the log on the log's thread; plain values. A tree written as rows with a depth.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interp/session/log_view.h"
#include "interp/session/program_view.h"

namespace hostir::gui {

struct HistoryKey {
  std::string value;             // without '%'
  std::vector<int64_t> element;  // empty, or of another rank than the tensor: all of it
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const HistoryKey&, const HistoryKey&) = default;
};

struct HistoryRow {
  int depth = 0;         // 0: a write of the tensor itself; deeper: where the row above came from
  std::string relation;  // "addend", "block", "reads"; empty at depth 0
  std::string value;     // whose write it is, without '%'
  interp::LogValue write;
  bool written = true;      // false: a parameter that nobody has written
  bool newest = false;      // of that value on that rank: what it holds now
  bool follows = false;     // the same element, so that its value can be followed
  std::string instruction;  // `@f#9  all_reduce ...`
  std::string loop;
};

struct HistoryData {
  bool known = false;  // the log has a tensor of this name
  size_t writes = 0;   // rows of depth 0
  size_t cut = 0;      // rows whose sources are not listed, for there are too many
  std::vector<HistoryRow> rows;
};

Expected<HistoryData> make_history(const interp::LogView& log, const interp::ProgramView& program,
                                   const HistoryKey& key, const std::stop_token& stop);

}  // namespace hostir::gui
