// Reads commands from a terminal with libedit: line editing, history kept in a file, completion.
//
// The history file is `hostir/history` under XDG_STATE_HOME or ~/.local/state: one command per
// line, appended as it is entered, so that sessions that run at the same time both keep theirs.
// Where it cannot be written, the history lasts as long as the process. Without libedit at build
// time, and where input or output is not a terminal, `create` returns null and callers read plain
// lines.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct editline;
struct history;

namespace hostir::cli {

class LineEditor {
 public:
  /// Completions of a line that ends at the cursor, as whole lines that begin with it.
  using Complete = std::function<std::vector<std::string>(const std::string& line)>;

  /// At most one may exist at a time, because it handles SIGINT while a line is typed.
  static std::unique_ptr<LineEditor> create(std::string prompt, Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// The next line, without its newline; nullopt at the end of the input. Ctrl-C drops the line
  /// that is being typed and asks again.
  std::optional<std::string> read();

  /// Inserts what all completions of the text before the cursor share, or lists them below the
  /// line. Returns a code of libedit.
  int complete();
  const std::string& prompt() const { return prompt_; }

 private:
  LineEditor(std::string prompt, Complete complete);
  void load_history();
  void remember(const std::string& line);

  std::string prompt_;
  Complete complete_;
  std::filesystem::path history_file_;  // empty: not kept
  editline* edit_ = nullptr;
  history* history_ = nullptr;
};

/// Where the history is kept; empty without XDG_STATE_HOME and HOME.
std::filesystem::path history_path();

}  // namespace hostir::cli
