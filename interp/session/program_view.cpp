#include "interp/session/program_view.h"

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

}  // namespace

std::vector<CodeIndex> ProgramView::at_line(uint32_t line) const {
  std::vector<CodeIndex> out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] == line) out.push_back(static_cast<CodeIndex>(i));
  }
  return out;
}

Expected<std::shared_ptr<const ProgramView>> make_program_view(const Program& program,
                                                               const std::string& entry,
                                                               const SizeBindings& sizes,
                                                               std::vector<PhaseText> phases) {
  auto sources = std::make_shared<SourceManager>();
  auto view = std::make_shared<ProgramView>();
  view->file = sources->add(entry + ".hir", text::print(without_tests(program)));
  HOSTIR_ASSIGN_OR_RETURN(SourceFileProgram file, text::load(*sources, view->file));
  auto positioned = std::make_shared<const Program>(std::move(file.parts.front()));
  CodeOptions options;
  options.entry = entry;
  options.sizes = sizes;
  HOSTIR_ASSIGN_OR_RETURN(view->code, compile_code(std::move(positioned), options));
  for (size_t i = 0; i < view->code->instructions.size(); ++i) {
    const SourceSpan span = view->code->source(static_cast<CodeIndex>(i)).span;
    view->lines.push_back(span.valid() ? sources->locate(span.file, span.begin).line : 0);
  }
  view->sources = std::move(sources);
  view->phases = std::move(phases);
  return std::shared_ptr<const ProgramView>(std::move(view));
}

}  // namespace hostir::interp
