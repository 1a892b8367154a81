#include "interp/session/program_view.h"

#include <map>

#include "hostir/text/parser.h"
#include "hostir/text/printer.h"

namespace hostir::interp {
namespace {

Program without_tests(const Program& program) {
  Program out = program;
  out.tests.clear();
  std::erase_if(out.order,
                [](const Program::Piece& p) { return p.kind == Program::PieceKind::kTest; });
  return out;
}

// Instructions in the order of the text, regions after the instruction that holds them: the same
// for a function and for what its printed form reads back as.
void in_text_order(const Function& function, RegionId region, std::vector<InstrId>& out) {
  for (const InstrId id : function.region(region).instructions) {
    out.push_back(id);
    for (const RegionId inner : function.instr(id).regions) in_text_order(function, inner, out);
  }
}

std::vector<InstrId> in_text_order(const Function& function) {
  std::vector<InstrId> out;
  in_text_order(function, function.body, out);
  return out;
}

// An instruction made by lowering stands where the first op that it was made from stands; one of
// the lowering's own (streams, communicators) stands nowhere.
SourceSpan origin_of(const Instruction& instruction, const Program& source) {
  if (instruction.from.empty()) return instruction.span;
  const OpRef& ref = instruction.from.front();
  const Function* f = source.find_function(ref.function);
  if (!f) return {};
  const std::vector<InstrId> ops = in_text_order(*f);
  const uint32_t index = ref.number - 1;  // `@f#1` is the first
  return index < ops.size() ? f->instr(ops[index]).span : SourceSpan{};
}

std::vector<SourceSpan> origins_of(const Code& code, const Program& program,
                                   const Program& source) {
  std::map<std::pair<const Function*, uint32_t>, SourceSpan> by_instruction;
  for (const Function* read_back : code.functions) {
    const Function* as_made = program.find_function(read_back->name);
    if (!as_made) continue;
    const std::vector<InstrId> here = in_text_order(*read_back);
    const std::vector<InstrId> there = in_text_order(*as_made);
    for (size_t i = 0; i < here.size() && i < there.size(); ++i) {
      by_instruction[{read_back, here[i].index}] = origin_of(as_made->instr(there[i]), source);
    }
  }
  std::vector<SourceSpan> out;
  for (const CodeInstruction& c : code.instructions)
    out.push_back(by_instruction[{code.functions[c.function], c.instr.index}]);
  return out;
}

}  // namespace

std::vector<CodeIndex> ProgramView::at_line(uint32_t line) const {
  std::vector<CodeIndex> out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == line) out.push_back(static_cast<CodeIndex>(i));
  }
  return out;
}

Expected<std::shared_ptr<const ProgramView>> make_program_view(const Program& program,
                                                               ProgramViewOptions options) {
  auto sources = std::make_shared<SourceManager>();
  auto view = std::make_shared<ProgramView>();
  view->file = sources->add(options.entry + ".hir", text::print(without_tests(program)));
  HOSTIR_ASSIGN_OR_RETURN(SourceFileProgram file, text::load(*sources, view->file));
  auto positioned = std::make_shared<const Program>(std::move(file.parts.front()));
  CodeOptions code;
  code.entry = options.entry;
  code.sizes = options.sizes;
  HOSTIR_ASSIGN_OR_RETURN(view->code, compile_code(std::move(positioned), code));
  for (size_t i = 0; i < view->code->instructions.size(); ++i) {
    const SourceSpan span = view->code->source(static_cast<CodeIndex>(i)).span;
    view->lines.push_back(span.valid() ? sources->locate(span.file, span.begin).line : 0);
  }
  if (options.given) {
    view->given = std::make_shared<const SourceManager>(*options.given);
    view->origins = origins_of(*view->code, program, options.source ? *options.source : program);
  }
  view->sources = std::move(sources);
  view->phases = std::move(options.phases);
  return std::shared_ptr<const ProgramView>(std::move(view));
}

Error in_given_text(Error error, const ProgramView& view) {
  if (!view.given) return error;
  const auto moved = [&](SourceSpan span) {
    if (!span.valid()) return span;
    for (size_t i = 0; i < view.origins.size(); ++i) {
      const SourceSpan here = view.code->source(static_cast<CodeIndex>(i)).span;
      if (here.begin == span.begin && here.end == span.end) return view.origins[i];
    }
    return SourceSpan{};
  };
  for (Diagnostic& d : error.diagnostics) {
    d.span = moved(d.span);
    for (Note& note : d.notes) note.span = moved(note.span);
  }
  return error;
}

const SourceManager& sources_of_error(const ProgramView& view) {
  return view.given ? *view.given : *view.sources;
}

}  // namespace hostir::interp
