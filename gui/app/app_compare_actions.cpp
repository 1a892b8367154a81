// Actions that compare the open run with another one.
#include "gui/app/app.h"

namespace hostir::gui {

void App::compare_with(const std::string& path) {
  tree().show("diff");
  model_.comparison().open(path);
}

void App::add_compare_actions() {
  const auto open = [this] { return model_.snapshot() != nullptr; };
  actions_.add({"diff.open", "Compare with a log...", "File", "Ctrl+Shift+O",
                "Open another log, and compare what is open with it.",
                [this] { begin_file_dialog(FileDialog::kCompare); }, open});
  actions_.add({"diff.keep", "Keep this run to compare with", "View", "",
                "Compares this run, up to here, with later runs.",
                [this] {
                  tree().show("diff");
                  model_.comparison().keep(model_);
                },
                [this] { return Comparison::why_not_keep(model_).empty(); }});
  actions_.add({"diff.next", "First or next divergence", "View", "Ctrl+F8",
                "Selects the first write that differs from the other run, then the next ones.",
                [this] {
                  tree().show("diff");
                  model_.comparison().next_divergence(model_);
                },
                [this, open] { return open() && model_.comparison().active(); }});
  actions_.add({"diff.swap", "Swap the pictures of A and B", "", "X",
                "Swaps the pictures of the two runs, so that differences blink.",
                [this] { model_.comparison().swapped = !model_.comparison().swapped; },
                [this] { return model_.comparison().contents() != nullptr; }});
}

}  // namespace hostir::gui
