// What an element held after each of its writes, found by running the program again.
//
// The re-run uses its own thread and can be cancelled. A short run is repeated automatically when a
// visible row lacks its value; a long one only when the user clicks a button. Results stay until
// another element is chosen.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gui/tree/panel.h"

namespace hostir::gui {

class PastValues {
 public:
  /// Drops results for any other element.
  void select(Model& model, const std::string& value, const std::vector<int64_t>& element);
  /// The element's value after a write; empty if unknown.
  std::string at(int64_t event, interp::Rank rank) const;
  /// Draws the button, the progress, or the reason for a failure. `missing`: some rows lack a
  /// value.
  void draw(Frame& frame, bool missing);

 private:
  struct State {
    std::string value;
    std::vector<int64_t> element;
    uint64_t opened = 0;
    bool running = false;
    bool cancelled = false;   // by the user: only the button asks again
    uint64_t generation = 0;  // model generation of the request
    double took_s = 0;        // duration of the last re-run
    std::string error;
    std::map<std::pair<int64_t, interp::Rank>, std::string> values;
  };
  void ask(Model& model);
  bool wants_unasked(const Model& model) const;

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hostir::gui
