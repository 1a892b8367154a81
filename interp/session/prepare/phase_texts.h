// The texts of the compiler's phases, printed on first use.
//
// A run does not need them, and for a long program printing takes longer than lowering. Names are
// always available. Copies share the texts; the first request makes them, on any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace hostir::interp {

/// One phase of the compiler: `fusion`, `propagate`, ..., `host`.
struct PhaseText {
  std::string name;
  std::string text;
};

class PhaseTexts {
 public:
  PhaseTexts() = default;
  explicit PhaseTexts(std::vector<PhaseText> texts) : made_(std::make_shared<Made>()) {
    for (const PhaseText& phase : texts) names_.push_back(phase.name);
    made_->texts = std::move(texts);
  }
  /// `make` gives a text for each name, in their order; called at most once.
  PhaseTexts(std::vector<std::string> names, std::function<std::vector<PhaseText>()> make)
      : names_(std::move(names)), made_(std::make_shared<Made>()) {
    made_->make = std::move(make);
  }

  bool empty() const { return names_.empty(); }
  size_t size() const { return names_.size(); }
  const std::vector<std::string>& names() const { return names_; }

  // These print on the first call.
  const std::vector<PhaseText>& texts() const {
    static const std::vector<PhaseText> none;
    if (made_ == nullptr) return none;
    std::call_once(made_->once, [&] {
      if (made_->make) made_->texts = made_->make();
    });
    return made_->texts;
  }
  auto begin() const { return texts().begin(); }
  auto end() const { return texts().end(); }
  const PhaseText& front() const { return texts().front(); }
  const PhaseText& operator[](size_t index) const { return texts()[index]; }

 private:
  struct Made {
    std::once_flag once;
    std::function<std::vector<PhaseText>()> make;
    std::vector<PhaseText> texts;
  };
  std::vector<std::string> names_;
  std::shared_ptr<Made> made_;
};

}  // namespace hostir::interp
