// What an element held after each of its writes: found by running the program again, on demand.
//
// It runs on a thread of its own and can be called off. Runs that are short are run again unasked
// when a row in view lacks its value; long ones by a button. What was found stays until another
// element is chosen.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gui/panel.h"

namespace hostir::gui {

class PastValues {
 public:
  /// Forgets what is of another element.
  void select(Model& model, const std::string& value, const std::vector<int64_t>& element);
  /// What a write left in the element; empty: not known.
  std::string at(int64_t event, interp::Rank rank) const;
  /// The button, or what runs, or why it could not be found. `missing`: there are rows without.
  void draw(Frame& frame, bool missing);

 private:
  struct State {
    std::string value;
    std::vector<int64_t> element;
    uint64_t opened = 0;
    bool running = false;
    bool cancelled = false;   // by hand: only the button asks again
    uint64_t generation = 0;  // of the model when it was asked
    double took_s = 0;        // the last time
    std::string error;
    std::map<std::pair<int64_t, interp::Rank>, std::string> values;
  };
  void ask(Model& model);
  bool wants_unasked(const Model& model) const;

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hostir::gui
