#include "hostir/cli/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "hostir/support/markup.h"

namespace hostir::cli {
namespace {

void write(std::FILE* to, std::string_view text) {
  const std::string safe = escape_terminal(text);
  std::fwrite(safe.data(), 1, safe.size(), to);
}

}  // namespace

Terminal::Terminal()
    : out_is_terminal_(isatty(STDOUT_FILENO) == 1), error_is_terminal_(isatty(STDERR_FILENO) == 1) {
  const bool no_colour = std::getenv("NO_COLOR") != nullptr;
  if (out_is_terminal_ && !no_colour) out_colour_ = Colour::kAlways;
  if (error_is_terminal_ && !no_colour) error_colour_ = Colour::kAlways;
}

void Terminal::print(std::string_view text) {
  end_progress();
  write(stdout, text);
}

std::streamsize Terminal::Buffer::xsputn(const char* text, std::streamsize size) {
  write(stdout, {text, static_cast<size_t>(size)});
  return size;
}

Terminal::Buffer::int_type Terminal::Buffer::overflow(int_type c) {
  const char one = traits_type::to_char_type(c);
  if (c != traits_type::eof()) write(stdout, {&one, 1});
  return traits_type::not_eof(c);
}

int Terminal::Buffer::sync() { return std::fflush(stdout); }

void Terminal::flush() { std::fflush(stdout); }

void Terminal::note(std::string_view line) {
  end_progress();
  std::fflush(stdout);
  write(stderr, std::string(line) + "\n");
}

int Terminal::report(const Error& error, const SourceManager& sources) {
  end_progress();
  std::fflush(stdout);
  write(stderr, render(error.diagnostics, sources, error_colour_));
  return exit_status(error.kind);
}

int Terminal::report(const Error& error) { return report(error, SourceManager()); }

void Terminal::progress(std::string_view line) {
  if (!error_is_terminal_) return;
  std::fputs("\r\x1b[K", stderr);
  write(stderr, line);
  std::fflush(stderr);
  progress_shown_ = true;
}

void Terminal::end_progress() {
  if (!progress_shown_) return;
  std::fprintf(stderr, "\r\x1b[K");
  progress_shown_ = false;
}

std::string Terminal::styled(std::string_view text, Style style) const {
  if (out_colour_ == Colour::kNever) return std::string(text);
  const char* code = "1";
  switch (style) {
    case Style::kBold:
      break;
    case Style::kGood:
      code = "32";
      break;
    case Style::kBad:
      code = "31";
      break;
    case Style::kDim:
      code = "2";
      break;
  }
  return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace hostir::cli
