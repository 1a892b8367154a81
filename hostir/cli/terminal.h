// Output of results and diagnostics.
//
// Results go to stdout, diagnostics and progress to stderr. Colour and progress are used only if
// the stream is a terminal and NO_COLOR is not set. Everything passes escape_terminal().
#pragma once

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include "hostir/support/diagnostic.h"
#include "hostir/support/expected.h"

namespace hostir::cli {

class Terminal {
 public:
  Terminal();
  /// Prints results to stdout, without adding a newline.
  void print(std::string_view text);
  /// The same as a stream.
  std::ostream& stream() { return stream_; }
  /// Writes what was printed so far: a program that reads a pipe or file sees it at once.
  void flush();
  /// Prints a line on stderr.
  void note(std::string_view line);
  /// Prints the diagnostics of an error and returns its exit status.
  int report(const Error& error, const SourceManager& sources);
  int report(const Error& error);
  /// Prints a progress line, which the next one replaces. Does nothing if stderr is not a terminal.
  void progress(std::string_view line);
  void end_progress();

  /// The text in bold, green, red or dim if stdout has colour.
  enum class Style { kBold, kGood, kBad, kDim };
  std::string styled(std::string_view text, Style style) const;

 private:
  struct Buffer : std::streambuf {
    std::streamsize xsputn(const char* text, std::streamsize size) override;
    int_type overflow(int_type c) override;
    int sync() override;
  };
  Buffer buffer_;
  std::ostream stream_{&buffer_};
  bool out_is_terminal_ = false;
  bool error_is_terminal_ = false;
  bool progress_shown_ = false;
  Colour out_colour_ = Colour::kNever;
  Colour error_colour_ = Colour::kNever;
};

}  // namespace hostir::cli
