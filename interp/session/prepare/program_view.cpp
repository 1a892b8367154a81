#include "interp/session/prepare/program_view.h"

#include <algorithm>
#include <map>

#include "hostir/ops/record.h"
#include "hostir/text/print/printer.h"

namespace hostir::interp {
namespace {

Program without_tests(const Program& program) {
  Program out = program;
  out.tests.clear();
  std::erase_if(out.order,
                [](const Program::Piece& p) { return p.kind == Program::PieceKind::kTest; });
  return out;
}

// Finds where instructions are in the user's text.
class SpanFinder {
 public:
  explicit SpanFinder(const ProgramViewOptions& options, const Program& program)
      : program_(options.source ? *options.source : program), lowered_(!options.phases.empty()) {}

  // True if lowering made the instruction. In a file that `lower` wrote, instructions have `from`
  // too, but the user sees them there.
  bool is_made(const Instruction& instruction) const {
    return lowered_ && !instruction.from.empty();
  }

  // The origin of a lowered instruction is that of the ops it was made from. Instructions that
  // lowering adds (streams, communicators) have none.
  std::vector<SourceSpan> origins_of(const Instruction& instruction) {
    if (!is_made(instruction)) return with_converted_ops(instruction);
    std::vector<SourceSpan> out;
    for (const OpRef& ref : instruction.from) out.push_back(span_of(ref));
    return out;
  }

 private:
  // A launch of a converted kernel also comes from the kernel's ops in the text before conversion.
  std::vector<SourceSpan> with_converted_ops(const Instruction& instruction) const {
    std::vector<SourceSpan> out = {instruction.span};
    const auto* kernel = instruction.attributes.get<Symbol>("kernel");
    const Function* f = kernel != nullptr ? program_.find_function(kernel->name) : nullptr;
    if (f == nullptr || !instruction.span.valid() || f->name_span.file == instruction.span.file)
      return out;
    for (const Instruction& op : f->instructions) {
      if (op.span.valid() && op.span.file == instruction.span.file) out.push_back(op.span);
    }
    return out;
  }

  // By the op's number: `@f#1` is the first.
  SourceSpan span_of(const OpRef& ref) {
    const Function* f = program_.find_function(ref.function);
    if (!f) return {};
    std::vector<InstrId>& ops = ops_[f];
    if (ops.empty()) ops = f->preorder();
    const uint32_t index = ref.number - 1;
    return index < ops.size() ? f->instr(ops[index]).span : SourceSpan{};
  }

  const Program& program_;
  const bool lowered_;
  std::map<const Function*, std::vector<InstrId>> ops_;
};

// Gives the program of a log the Origins that its text lacks. `program` has the functions of the
// code.
void restore(const HeldValues& held, const Code& code, Program& program) {
  Function& host = *program.find_function(code.entry);
  for (size_t v = 0; v < std::min(held.buffers.size(), host.values.size()); ++v)
    host.values[v].origin = held.buffers[v];
  for (const HeldValues::Written& w : held.written) {
    if (w.code >= code.instructions.size()) continue;
    const CodeInstruction& c = code.instructions[w.code];
    Function& f = *program.find_function(code.functions[c.function]->name);
    std::vector<Operand>& operands = f.instr(c.instr).operands;
    if (w.operand < operands.size()) operands[w.operand].origin = w.value;
  }
}

// By CodeIndex. `program` has the functions and ids of the code, with the spans it was given.
std::vector<std::vector<SourceSpan>> origins_of(const Code& code, const Program& program,
                                                SpanFinder finder) {
  std::vector<std::vector<SourceSpan>> out;
  for (const CodeInstruction& c : code.instructions) {
    const Function& f = *program.find_function(code.functions[c.function]->name);
    out.push_back(finder.origins_of(f.instr(c.instr)));
  }
  return out;
}

// For each function the span of its name, and for each instruction its span as a whole and those
// of operands that come from the user's text.
std::vector<SpanMove> moves_to_given(const Program& printed, const Program& program,
                                     SpanFinder finder) {
  std::vector<SpanMove> out;
  for (const Function& f : printed.functions) {
    const Function& given = *program.find_function(f.name);
    out.push_back({f.name_span, given.name_span});
    for (const InstrId id : f.preorder()) {
      const Instruction& a = f.instr(id);
      const Instruction& b = given.instr(id);
      out.push_back({a.span, finder.origins_of(b).front()});
      for (size_t o = 0; !finder.is_made(b) && o < a.operands.size(); ++o)
        out.push_back({a.operands[o].span, b.operands[o].span});
    }
  }
  return out;
}

// Moves a position to the origin of the smallest span that contains it.
Error moved(Error error, const std::vector<SpanMove>& moves) {
  const auto move = [&](SourceSpan span) {
    const SpanMove* best = nullptr;
    for (const SpanMove& m : moves) {
      if (!span.valid() || span.begin < m.here.begin || span.end > m.here.end) continue;
      if (!best || m.here.end - m.here.begin < best->here.end - best->here.begin) best = &m;
    }
    return best ? best->there : SourceSpan{};
  };
  for (Diagnostic& d : error.diagnostics) {
    d.span = move(d.span);
    for (Note& note : d.notes) note.span = move(note.span);
  }
  return error;
}

// Of a file that lowering did not change, the file itself is shown.
void show_given(ProgramView& view, bool lowered) {
  view.shows_given = !lowered;
  for (CodeIndex i = 0; i < view.instructions.size(); ++i) {
    if (!view.origin(i).valid()) view.shows_given = false;
    if (view.instructions[i].mnemonic.empty()) continue;
    for (const SourceSpan span : view.given.origins[i]) {
      if (!span.valid()) continue;
      const uint32_t line = view.given.texts->locate(span.file, span.begin).line;
      view.given_lines.push_back({span.file, line, i});
    }
  }
  std::sort(view.given_lines.begin(), view.given_lines.end());
}

bool is_named(std::string_view path, std::string_view name) {
  return path == name || (path.size() > name.size() && path.ends_with(name) &&
                          path[path.size() - name.size() - 1] == '/');
}

// The instructions on the first line at or after `line` in the same function, which a line with
// a closing brace in its first column ends.
std::vector<CodeIndex> first_from(const std::vector<GivenLine>& lines, const SourceManager& texts,
                                  uint32_t file, uint32_t line) {
  std::vector<CodeIndex> out;
  const auto first = std::lower_bound(lines.begin(), lines.end(), GivenLine{file, line, 0});
  if (first == lines.end() || first->file != file) return out;
  for (uint32_t l = line; l < first->line; ++l) {
    if (texts.line(file, l).starts_with('}')) return out;
  }
  for (auto at = first; at != lines.end() && at->file == file && at->line == first->line; ++at)
    out.push_back(at->code);
  return out;
}

void set_code(ProgramView& view, std::shared_ptr<const Code> code) {
  view.entry = code->entry;
  view.rank_count = code->rank_count;
  if (code->world) view.world = *code->world;
  for (CodeIndex i = 0; i < code->instructions.size(); ++i) {
    model::Instruction& instruction = view.instructions.emplace_back();
    instruction.address = code->address(i);
    if (code->instructions[i].role == CodeRole::kInstruction)
      instruction.mnemonic = record(code->instructions[i].kind).mnemonic;
  }
  view.code = std::move(code);
}

}  // namespace

CodeIndex ProgramView::find(std::string_view address) const {
  const auto at = std::find_if(instructions.begin(), instructions.end(),
                               [&](const auto& i) { return i.address == address; });
  return static_cast<CodeIndex>(at - instructions.begin());
}

TextLine ProgramView::shown(CodeIndex index) const {
  if (!shows_given) return {sources.get(), file, lines[index]};
  const SourceSpan span = origin(index);
  return {given.texts.get(), span.file, given.texts->locate(span.file, span.begin).line};
}

std::vector<CodeIndex> ProgramView::at_line(std::string_view name, uint32_t line) const {
  const bool in_shown = name.empty() || is_named(sources->name(file), name);
  if (in_shown && !shows_given) {
    std::vector<GivenLine> here;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!instructions[i].mnemonic.empty())
        here.push_back({file, lines[i], static_cast<CodeIndex>(i)});
    }
    std::sort(here.begin(), here.end());
    return first_from(here, *sources, file, line);
  }
  for (uint32_t f = 0; given.texts && f < given.texts->size(); ++f) {
    if (!name.empty() && !is_named(given.texts->name(f), name)) continue;
    std::vector<CodeIndex> out = first_from(given_lines, *given.texts, f, line);
    if (!shows_given && !phases.empty() && out.size() > 1) out.resize(1);
    // A line of a converted module may become several instructions, in several passes of a loop.
    for (size_t i = out.size(); !shows_given && i-- > 1;) {
      if (out[i - 1] + 1 == out[i]) out.erase(out.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!out.empty()) return out;
  }
  return {};
}

Expected<std::shared_ptr<const ProgramView>> make_program_view(const Program& program,
                                                               ProgramViewOptions options) {
  auto sources = std::make_shared<SourceManager>();
  auto view = std::make_shared<ProgramView>();
  auto printed = std::make_shared<Program>(without_tests(program));
  view->file = sources->add(options.entry + ".hir", text::print_and_locate(*printed, 0));
  CodeOptions code;
  code.entry = options.entry;
  code.sizes = options.sizes;
  if (options.recorded != nullptr) {
    view->given = options.recorded->given;
  } else if (options.given != nullptr) {
    view->given.texts = std::make_shared<const SourceManager>(*options.given);
    view->given.moves = moves_to_given(*printed, program, SpanFinder(options, program));
  }
  auto compiled = compile_code(printed, code);
  if (!compiled) return tl::unexpected(in_given_text(std::move(compiled.error()), *view));
  if (options.recorded != nullptr) restore(options.recorded->held, **compiled, *printed);
  set_code(*view, std::move(*compiled));
  for (CodeIndex i = 0; i < view->code->instructions.size(); ++i) {
    const SourceSpan span = view->code->source(i).span;
    view->lines.push_back(span.valid() ? sources->locate(span.file, span.begin).line : 0);
  }
  if (options.given != nullptr && options.recorded == nullptr)
    view->given.origins = origins_of(*view->code, program, SpanFinder(options, program));
  if (view->given.origins.size() != view->instructions.size()) view->given = {};
  if (view->given.texts) show_given(*view, !options.phases.empty());
  view->sources = std::move(sources);
  view->phases = std::move(options.phases);
  view->choices = std::move(options.choices);
  return std::shared_ptr<const ProgramView>(std::move(view));
}

HeldValues held_values(const Code& code, ValueNames names) {
  HeldValues out;
  out.names = std::move(names);
  for (const Value& v : code.functions.front()->values) out.buffers.push_back(v.origin);
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (code.instructions[i].role != CodeRole::kInstruction) continue;
    const std::vector<Operand>& operands = code.source(i).operands;
    for (uint32_t o = 0; o < operands.size(); ++o) {
      if (operands[o].origin.valid()) out.written.push_back({i, o, operands[o].origin});
    }
  }
  return out;
}

Error in_given_text(Error error, const ProgramView& view) {
  return view.given.texts ? moved(std::move(error), view.given.moves) : error;
}

const SourceManager& sources_of_error(const ProgramView& view) {
  return view.given.texts ? *view.given.texts : *view.sources;
}

}  // namespace hostir::interp
