// Caches the sources of writes while a tensor stays selected; requests them one write at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gui/panels/history/history_data.h"
#include "gui/state/model.h"

namespace hostir::gui {

class HistorySources {
 public:
  /// Call each frame. Drops what belongs to another tensor or element.
  void update(Model& model, const std::string& value, const std::vector<int64_t>& element);
  /// Null until the answer arrives. If the log has grown, the old rows stay until new ones arrive.
  const std::vector<SourceRow>* of(const interp::LogWrite& place) const;
  /// Requests sources that are missing or outdated; returns true while a request is pending.
  bool ask(Model& model, const interp::LogValue& write);
  /// `@f#9  all_reduce ...`; empty until the instructions have been read from the log.
  const std::string& instruction(Model& model, interp::CodeIndex code);

 private:
  struct Entry {
    uint64_t generation = 0;
    std::vector<SourceRow> rows;
  };
  struct State {
    std::string value;
    std::vector<int64_t> element;
    uint64_t opened = 0;
    uint64_t generation = 0;
    bool asked = false;
    std::map<std::pair<int64_t, interp::Rank>, Entry> entries;
  };
  struct Instructions {
    uint64_t opened = 0;
    bool asked = false;
    std::vector<std::string> texts;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  std::shared_ptr<Instructions> instructions_ = std::make_shared<Instructions>();
};

}  // namespace hostir::gui
