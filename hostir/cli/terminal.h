// Where results and diagnostics go.
//
// Results to stdout, diagnostics and progress to stderr. Colour and progress only where the stream
// is a terminal and NO_COLOR is not set.
#pragma once

#include <string>
#include <string_view>

#include "hostir/support/diagnostic.h"
#include "hostir/support/expected.h"

namespace hostir::cli {

class Terminal {
 public:
  Terminal();
  /// Results; a newline is not added.
  void print(std::string_view text);
  /// A line on stderr.
  void note(std::string_view line);
  /// Prints the diagnostics of an error and returns the exit status that goes with it.
  int report(const Error& error, const SourceManager& sources);
  int report(const Error& error);
  /// A progress line that the next one replaces; nothing where stderr is no terminal.
  void progress(std::string_view line);
  void end_progress();

  bool out_is_terminal() const { return out_is_terminal_; }
  Colour out_colour() const { return out_colour_; }
  Colour error_colour() const { return error_colour_; }
  /// Text in bold, green, red or dim where stdout has colour.
  enum class Style { kBold, kGood, kBad, kDim };
  std::string styled(std::string_view text, Style style) const;

 private:
  bool out_is_terminal_ = false;
  bool error_is_terminal_ = false;
  bool progress_shown_ = false;
  Colour out_colour_ = Colour::kNever;
  Colour error_colour_ = Colour::kNever;
};

}  // namespace hostir::cli
