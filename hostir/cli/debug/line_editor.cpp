#include "hostir/cli/debug/line_editor.h"

#include <cstdlib>

#ifdef HOSTIR_HAS_LIBEDIT
#include <histedit.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cwchar>
#include <fstream>

#include "hostir/support/text.h"
#endif

namespace hostir::cli {

std::filesystem::path history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && state[0] == '/') return std::filesystem::path(state) / "hostir" / "history";
  const char* home = std::getenv("HOME");
  if (!home || home[0] == '\0') return {};
  return std::filesystem::path(home) / ".local" / "state" / "hostir" / "history";
}

#ifndef HOSTIR_HAS_LIBEDIT

std::unique_ptr<LineEditor> LineEditor::create(std::string, Complete) { return nullptr; }
LineEditor::~LineEditor() = default;
std::optional<std::string> LineEditor::read() { return std::nullopt; }

#else

namespace {

constexpr size_t kKeptLines = 1000;

volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_interrupt(int) { interrupted = 1; }

// While it exists, SIGINT interrupts the read of a key instead of ending the process.
class KeyInterrupt {
 public:
  KeyInterrupt() {
    interrupted = 0;
    struct sigaction action = {};
    action.sa_handler = note_interrupt;  // without SA_RESTART
    sigaction(SIGINT, &action, &before_);
  }
  ~KeyInterrupt() { sigaction(SIGINT, &before_, nullptr); }
  KeyInterrupt(const KeyInterrupt&) = delete;
  KeyInterrupt& operator=(const KeyInterrupt&) = delete;

 private:
  struct sigaction before_ = {};
};

// One character of the locale's encoding. Returns 1, 0 at the end of the input, -1 if interrupted.
int read_key(EditLine* edit, wchar_t* key) {
  std::mbstate_t state = {};
  for (;;) {
    char byte = 0;
    const ssize_t got = ::read(STDIN_FILENO, &byte, 1);
    if (got == 0) return 0;
    if (got < 0) {
      if (errno != EINTR || interrupted != 0) return -1;
      el_set(edit, EL_REFRESH);  // resized, or continued after a stop
      continue;
    }
    const size_t used = std::mbrtowc(key, &byte, 1, &state);
    if (used == static_cast<size_t>(-2)) continue;  // the character has more bytes
    if (used == static_cast<size_t>(-1)) *key = L'?';
    return 1;
  }
}

LineEditor* editor_of(EditLine* edit) {
  void* data = nullptr;
  el_get(edit, EL_CLIENTDATA, &data);
  return static_cast<LineEditor*>(data);
}

char* prompt_of(EditLine* edit) { return const_cast<char*>(editor_of(edit)->prompt().c_str()); }

unsigned char complete_key(EditLine* edit, int) {
  return static_cast<unsigned char>(editor_of(edit)->complete());
}

std::string common_start(const std::vector<std::string>& lines) {
  std::string out = lines.front();
  for (const std::string& line : lines) {
    const auto end = std::mismatch(out.begin(), out.end(), line.begin(), line.end()).first;
    out.erase(end, out.end());
  }
  return out;
}

// The last words of completions in columns, for a screen of that width.
void list_words(const std::vector<std::string>& lines, size_t skip, size_t width) {
  size_t longest = 0;
  for (const std::string& line : lines) longest = std::max(longest, line.size() - skip);
  const size_t columns = std::max<size_t>(1, width / (longest + 2));
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool last = i + 1 == lines.size() || (i + 1) % columns == 0;
    std::printf("%-*s%s", last ? 0 : static_cast<int>(longest + 2), lines[i].c_str() + skip,
                last ? "\n" : "");
  }
  std::fflush(stdout);
}

}  // namespace

std::unique_ptr<LineEditor> LineEditor::create(std::string prompt, Complete complete) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) return nullptr;
  std::unique_ptr<LineEditor> out(new LineEditor(std::move(prompt), std::move(complete)));
  return out->edit_ && out->history_ ? std::move(out) : nullptr;
}

LineEditor::LineEditor(std::string prompt, Complete complete)
    : prompt_(std::move(prompt)),
      complete_(std::move(complete)),
      edit_(el_init("hostir", stdin, stdout, stderr)),
      history_(history_init()) {
  if (!edit_ || !history_) return;
  HistEvent event;
  ::history(history_, &event, H_SETSIZE, static_cast<int>(kKeptLines));
  ::history(history_, &event, H_SETUNIQUE, 1);
  el_set(edit_, EL_CLIENTDATA, this);
  el_set(edit_, EL_PROMPT, prompt_of);
  el_set(edit_, EL_EDITOR, "emacs");
  el_set(edit_, EL_SIGNAL, 1);  // restores the terminal when a signal ends or stops the process
  el_set(edit_, EL_GETCFN, read_key);
  el_set(edit_, EL_HIST, ::history, history_);
  el_set(edit_, EL_ADDFN, "hostir-complete", "Complete commands, values and places", complete_key);
  el_set(edit_, EL_BIND, "^I", "hostir-complete", nullptr);
  el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(edit_, nullptr);  // the user's ~/.editrc
  load_history();
}

LineEditor::~LineEditor() {
  if (history_) history_end(history_);
  if (edit_) el_end(edit_);
}

std::optional<std::string> LineEditor::read() {
  for (;;) {
    const KeyInterrupt interrupt;
    int count = 0;
    const char* text = el_gets(edit_, &count);
    if (interrupted != 0) {
      std::fputs("^C\n", stdout);
      continue;
    }
    if (!text || count <= 0) return std::nullopt;
    std::string line(text, static_cast<size_t>(count));
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
    if (!trimmed(line).empty()) remember(line);
    return line;
  }
}

int LineEditor::complete() {
  const LineInfo* info = el_line(edit_);
  const std::string typed(info->buffer, info->cursor);
  const std::vector<std::string> lines = complete_(typed);
  if (lines.empty()) return CC_ERROR;
  std::string insert = common_start(lines).substr(typed.size());
  if (lines.size() == 1 && insert.find_last_of(":/(") != insert.size() - 1) insert += ' ';
  if (!insert.empty()) return el_insertstr(edit_, insert.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
  if (lines.size() == 1) return CC_NORM;
  int width = 80;
  el_get(edit_, EL_GETTC, "co", &width, nullptr);
  std::fputc('\n', stdout);
  list_words(lines, typed.find_last_of(" \t([{,!") + 1, static_cast<size_t>(width));
  return CC_REDISPLAY;
}

void LineEditor::load_history() {
  history_file_ = history_path();
  if (history_file_.empty()) return;
  std::vector<std::string> lines;
  std::ifstream in(history_file_);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  in.close();
  const size_t first = lines.size() - std::min(lines.size(), kKeptLines);
  HistEvent event;
  for (size_t i = first; i < lines.size(); ++i)
    ::history(history_, &event, H_ENTER, lines[i].c_str());
  std::error_code failed;
  if (lines.size() <= 2 * kKeptLines) return;
  // Replaces the file as a whole, so that a session that reads it meanwhile sees one or the other.
  const std::filesystem::path shorter = history_file_.string() + "." + std::to_string(getpid());
  std::ofstream out(shorter);
  std::filesystem::permissions(shorter, std::filesystem::perms(0600), failed);
  for (size_t i = first; i < lines.size(); ++i) out << lines[i] << "\n";
  out.close();
  if (out) std::filesystem::rename(shorter, history_file_, failed);
  if (!out || failed) std::filesystem::remove(shorter, failed);
}

void LineEditor::remember(const std::string& line) {
  HistEvent event;
  ::history(history_, &event, H_ENTER, line.c_str());
  if (history_file_.empty()) return;
  std::error_code failed;
  const bool fresh = !std::filesystem::exists(history_file_, failed);
  if (fresh) std::filesystem::create_directories(history_file_.parent_path(), failed);
  std::ofstream out(history_file_, std::ios::app);
  if (fresh) std::filesystem::permissions(history_file_, std::filesystem::perms(0600), failed);
  out << line << "\n";
}

#endif

}  // namespace hostir::cli
