// Tables, views and columns of the open log, beside the field for questions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/panels/log_fetch.h"

namespace hostir::gui {

struct SqlTable {
  std::string name;
  bool view = false;
  std::vector<std::string> columns;
};

class SqlSchema {
 public:
  /// Draws the list from the cursor on. Returns a question that was chosen by a click on a table,
  /// else an empty text; a click on a column adds its name to `text`.
  std::string draw(Frame& frame, std::string& text);
  /// What an error of SQLite about a name may have meant: `did you mean "event"?`; empty: nothing.
  std::string suggestion(std::string_view error) const;

 private:
  LogFetch<uint64_t, std::vector<SqlTable>> fetch_{"sql/schema"};
  std::vector<SqlTable> tables_;
};

}  // namespace hostir::gui
