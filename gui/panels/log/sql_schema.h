// Tables, views and columns of the open log, shown beside the query field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/panels/log/log_fetch.h"

namespace hostir::gui {

struct SqlTable {
  std::string name;
  bool view = false;
  std::vector<std::string> columns;
};

class SqlSchema {
 public:
  /// Asks the log for its tables; false until they are known.
  bool read(Frame& frame);
  /// Draws the list at the cursor. Returns a query if a table was clicked, else an empty string; a
  /// click on a column appends its name to `text`.
  std::string draw(Frame& frame, std::string& text);
  /// A correction for a name in an SQLite error: `did you mean "event"?`; empty if there is none.
  std::string suggestion(std::string_view error) const;

 private:
  LogFetch<uint64_t, std::vector<SqlTable>> fetch_{"sql/schema"};
  std::vector<SqlTable> tables_;
};

}  // namespace hostir::gui
