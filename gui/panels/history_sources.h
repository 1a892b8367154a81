// Where writes came from, asked one write at a time and kept while the tensor stays selected.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gui/model.h"
#include "gui/panels/history_data.h"

namespace hostir::gui {

class HistorySources {
 public:
  /// Each frame: forgets what is of another tensor or element.
  void update(Model& model, const std::string& value, const std::vector<int64_t>& element);
  /// Null until they have come. After the log has grown the old ones stay until they are new.
  const std::vector<SourceRow>* of(const interp::LogWrite& place) const;
  /// Asks where they are missing or old; true while a question is under way.
  bool ask(Model& model, const interp::LogValue& write);
  /// `@f#9  all_reduce ...`; empty until the log has told its instructions.
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
