#include "hostir/text/parse/parser.h"

#include <algorithm>

#include "hostir/text/parse/parse_piece.h"
#include "hostir/text/part.h"

namespace hostir::text {

namespace {

using Lines = std::vector<std::string>;

void strip_front(Lines& lines) {
  while (!lines.empty() && lines.front().empty()) lines.erase(lines.begin());
}
void strip_back(Lines& lines) {
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
}

class PartParser {
 public:
  PartParser(const SourceManager& sources, Cursor& cursor) : sources_(sources), cursor_(cursor) {}

  ParsedPart run() {
    while (true) {
      Lines documentation;
      Lines comments = cursor_.take_comments(&documentation);
      if (cursor_.at_end() || cursor_.too_many_errors()) {
        strip_front(comments);
        strip_back(comments);
        out_.program.closing_comments = std::move(comments);
        return std::move(out_);
      }
      if (program().order.empty()) split_file_comment(comments);
      parse_piece(std::move(comments), std::move(documentation));
    }
  }

 private:
  Program& program() { return out_.program; }

  // Comments before the first piece belong to the file if a blank line separates them from it.
  void split_file_comment(Lines& comments) {
    strip_front(comments);
    const auto blank = std::find(comments.rbegin(), comments.rend(), std::string());
    if (blank == comments.rend()) return;
    program().leading_comments.assign(comments.begin(), blank.base());
    strip_back(program().leading_comments);
    comments.erase(comments.begin(), blank.base());
  }

  void parse_piece(Lines comments, Lines documentation) {
    cursor_.begin_construct();
    using Reader = bool (PartParser::*)(Lines, Lines);
    struct Piece {
      std::string_view word;
      Reader read;
    };
    static constexpr Piece kPieces[] = {
        {"mesh", &PartParser::mesh},     {"machine", &PartParser::machine},
        {"fusion", &PartParser::fusion}, {"kernel", &PartParser::kernel},
        {"host", &PartParser::host},     {"gradient", &PartParser::gradient},
        {"test", &PartParser::test}};
    for (const Piece& piece : kPieces) {
      if (!cursor_.at(piece.word)) continue;
      cursor_.next();
      const Token& name = cursor_.peek();
      const bool named = name.kind == TokenKind::kSymbol;
      if (named) check_unique(name);
      const std::string symbol(name.text);
      if (!(this->*piece.read)(std::move(comments), std::move(documentation))) {
        if (named) out_.notes.broken_symbols.insert(symbol);
        cursor_.skip_to_next_piece();
      }
      return;
    }
    cursor_.unexpected("mesh, machine, fusion, kernel, host, gradient or test");
    cursor_.next();
    cursor_.skip_to_next_piece();
  }

  void check_unique(const Token& name) {
    const SourceSpan span = cursor_.span_of(name);
    const auto [at, fresh] = symbols_.emplace(std::string(name.text), span);
    if (fresh) return;
    Diagnostic& d = cursor_.error(
        "symbol_c1", "the symbol @" + std::string(name.text) + " is declared twice", span);
    d.notes.push_back({"it is declared here first", at->second});
  }

  // Stores the comments of a piece that has no comment fields itself.
  void keep_comments(Lines comments) {
    program().order.back().comments.leading = std::move(comments);
    program().order.back().comments.trailing = cursor_.take_trailing_comment();
  }

  bool mesh(Lines comments, Lines documentation) {
    auto mesh = text::parse_mesh(cursor_, program());
    if (!mesh) return false;
    mesh->documentation = std::move(documentation);
    program().add_mesh(std::move(*mesh));
    // Blank lines are kept only between meshes; the printer inserts all others.
    const bool apart = !comments.empty() && comments.front().empty();
    strip_front(comments);
    const auto& order = program().order;
    if (apart && order.size() > 1 && order[order.size() - 2].kind == Program::PieceKind::kMesh)
      comments.insert(comments.begin(), std::string());
    keep_comments(std::move(comments));
    return true;
  }

  bool machine(Lines comments, Lines documentation) {
    auto machine = text::parse_machine(cursor_);
    if (!machine) return false;
    machine->documentation = std::move(documentation);
    program().add_machine(std::move(*machine));
    strip_front(comments);
    keep_comments(std::move(comments));
    return true;
  }

  bool fusion(Lines comments, Lines documentation) {
    return function(FunctionKind::kFusion, std::move(comments), std::move(documentation));
  }
  bool kernel(Lines comments, Lines documentation) {
    return function(FunctionKind::kKernel, std::move(comments), std::move(documentation));
  }
  bool host(Lines comments, Lines documentation) {
    return function(FunctionKind::kHost, std::move(comments), std::move(documentation));
  }

  bool function(FunctionKind kind, Lines comments, Lines documentation) {
    Function function;
    FunctionNotes notes;
    function.kind = kind;
    strip_front(comments);
    function.comments.leading = std::move(comments);
    function.documentation = std::move(documentation);
    if (!FunctionParser(cursor_, sources_, function, notes).parse()) return false;
    program().add_function(std::move(function));
    out_.notes.functions.push_back(std::move(notes));
    return true;
  }

  // `gradient @g of @f wrt(%a, %b)`: a fusion whose body follows from that of @f.
  bool gradient(Lines comments, Lines documentation) {
    Function function;
    FunctionNotes notes;
    GradientNote note;
    function.name_span = cursor_.span_here();
    const uint32_t begin = cursor_.begin_here();
    auto name = cursor_.expect_symbol("the name of the gradient");
    if (!name || !cursor_.expect("of")) return false;
    note.span = cursor_.span_here();
    auto of = cursor_.expect_symbol("a fusion");
    if (!of) return false;
    note.of = std::move(*of);
    if (cursor_.accept("wrt")) {
      if (!cursor_.expect("(")) return false;
      do {
        const Token* parameter = cursor_.expect(TokenKind::kValue, "a parameter of the fusion");
        if (!parameter) return false;
        note.wrt.emplace_back(parameter->text);
      } while (cursor_.accept(","));
      if (!cursor_.expect(")")) return false;
    }
    strip_front(comments);
    function.name = std::move(*name);
    function.span = cursor_.span_from(begin);
    function.comments.leading = std::move(comments);
    function.documentation = std::move(documentation);
    notes.gradient = std::move(note);
    program().add_function(std::move(function));
    out_.notes.functions.push_back(std::move(notes));
    return true;
  }

  bool test(Lines comments, Lines documentation) {
    bool complete = true;
    auto test = text::parse_test(cursor_, complete);
    if (!test) return false;
    strip_front(comments);
    test->leading_comments = std::move(comments);
    test->documentation = std::move(documentation);
    program().add_test(std::move(*test));
    keep_comments({});
    return true;
  }

  const SourceManager& sources_;
  Cursor& cursor_;
  ParsedPart out_;
  std::map<std::string, SourceSpan> symbols_;
};

bool is_error(const Diagnostic& d) { return d.severity == Severity::kError; }

}  // namespace

ParsedPart parse_part(const SourceManager& sources, SourceSpan part,
                      std::vector<Diagnostic>& diagnostics) {
  const TokenStream stream = lex(sources, part.file, part.begin, part.end, diagnostics);
  Cursor cursor(part.file, stream, diagnostics);
  return PartParser(sources, cursor).run();
}

bool ParsedFile::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(), is_error);
}

bool ParsedFile::ok(size_t part) const {
  const SourceSpan& span = parts[part];
  return std::none_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& d) {
    const bool here = d.span.valid() && d.span.begin >= span.begin && d.span.begin <= span.end;
    return is_error(d) && (here || !d.span.valid());
  });
}

ParsedFile parse(const SourceManager& sources, uint32_t file) {
  ParsedFile out;
  out.parts = split_parts(sources, file);
  for (const SourceSpan& part : out.parts) {
    std::vector<Diagnostic> found;
    ParsedPart parsed = parse_part(sources, part, found);
    verify_part(parsed.program, parsed.notes, &sources, found);
    std::stable_sort(found.begin(), found.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return a.span.begin < b.span.begin;
    });
    out.diagnostics.insert(out.diagnostics.end(), std::make_move_iterator(found.begin()),
                           std::make_move_iterator(found.end()));
    out.file.parts.push_back(std::move(parsed.program));
  }
  return out;
}

Expected<SourceFileProgram> load(const SourceManager& sources, uint32_t file) {
  ParsedFile parsed = parse(sources, file);
  if (parsed.ok()) return std::move(parsed.file);
  return tl::unexpected(Error{ErrorKind::kInvalid, std::move(parsed.diagnostics)});
}

Expected<Program> parse_program(std::string text) {
  SourceManager sources;
  const uint32_t id = sources.add("<text>", std::move(text));
  auto file = load(sources, id);
  if (file) return std::move(file->parts.front());
  for (Diagnostic& d : file.error().diagnostics) {
    if (!d.span.valid()) continue;
    const LineColumn at = sources.locate(id, d.span.begin);
    d.message +=
        " (line " + std::to_string(at.line) + ", column " + std::to_string(at.column) + ")";
    d.span = {};
    for (Note& note : d.notes) note.span = {};
  }
  return tl::unexpected(std::move(file.error()));
}

}  // namespace hostir::text
