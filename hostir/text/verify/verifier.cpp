#include "hostir/text/verify/verifier.h"

#include <algorithm>

#include "hostir/ops/differentiate.h"
#include "hostir/ops/host.h"
#include "hostir/text/verify/verify_context.h"
#include "hostir/text/verify/verify_function.h"

namespace hostir::text {

namespace {

// The parser reports these at the place of the second one.
void check_symbols(const Program& program, std::vector<Diagnostic>& diagnostics) {
  std::set<std::string_view> symbols;
  const auto check = [&](const std::string& name, SourceSpan span) {
    if (symbols.insert(name).second) return;
    diagnostics.push_back(
        {Severity::kError, "symbol_c1", "the symbol @" + name + " is declared twice", span, {}});
  };
  for (const Mesh& mesh : program.meshes) check(mesh.name, mesh.span);
  for (const Machine& machine : program.machines) check(machine.name, machine.span);
  for (const Function& function : program.functions) check(function.name, function.name_span);
}

// True if the function applies a kernel whose gradient has errors.
bool applies_faulty_gradient(const VerifyContext& context, const Function& function) {
  for (const Instruction& i : function.instructions) {
    for (const auto& [name, value] : i.attributes.entries()) {
      const auto* symbol = std::get_if<Symbol>(&value);
      const Function* kernel = symbol ? context.program.find_function(symbol->name) : nullptr;
      if (kernel != nullptr && context.faulty.contains(kernel->gradient)) return true;
    }
  }
  return false;
}

// Builds the body of a gradient from a fusion declared before it. False after an error.
bool derive(VerifyContext& context, Function& function, const GradientNote& note) {
  const Function* of = context.program.find_function(note.of);
  if (of == nullptr || of->kind != FunctionKind::kFusion || of >= &function) {
    if (!context.is_broken_symbol(note.of)) {
      context.error("gradient_c1", "@" + note.of + " is not a fusion declared before its gradient",
                    note.span);
    }
    return false;
  }
  // Errors of these have been reported already, here or in a function that they use.
  const bool untyped = std::ranges::any_of(
      of->values, [](const Value& v) { return std::holds_alternative<NoType>(v.type); });
  if (untyped || context.faulty.contains(of->name) || applies_faulty_gradient(context, *of))
    return false;
  auto derived = differentiate(context.program, *of, function.name, note.wrt);
  if (!derived) {
    for (Diagnostic& d : derived.error().diagnostics) {
      d.notes.push_back({"its gradient is asked for here", note.span});
      context.diagnostics.push_back(std::move(d));
    }
    return false;
  }
  derived->comments = std::move(function.comments);
  derived->documentation = std::move(function.documentation);
  derived->name_span = function.name_span;
  derived->span = function.span;
  function = std::move(*derived);
  return true;
}

}  // namespace

bool same_shape_and_dtype(const Type& a, const Type& b) {
  if (!is_tensor(a) || !is_tensor(b)) return a == b;
  return dtype_of(a) == dtype_of(b) && ops::same_shape(shape_of(a), shape_of(b));
}

bool same_type(const Type& a, const Type& b) {
  if (!same_shape_and_dtype(a, b) || a.index() != b.index()) return false;
  const auto* x = std::get_if<ShardType>(&a);
  const auto* y = std::get_if<ShardType>(&b);
  return !x || !y || (x->sharding == y->sharding && x->blocks == y->blocks);
}

void verify_part(Program& program, const PartNotes& notes, const SourceManager* sources,
                 std::vector<Diagnostic>& diagnostics) {
  VerifyContext context{program, notes, sources, diagnostics};
  const FunctionNotes none;
  for (size_t i = 0; i < program.functions.size(); ++i) {
    if (diagnostics.size() >= kMaxDiagnostics) return;
    const FunctionNotes& of = i < notes.functions.size() ? notes.functions[i] : none;
    const size_t before = diagnostics.size();
    const bool made = !of.gradient || derive(context, program.functions[i], *of.gradient);
    if (made) verify_function(context, program.functions[i], of);
    if (!made || of.broken || diagnostics.size() > before)
      context.faulty.insert(program.functions[i].name);
  }
  for (const TestPiece& test : program.tests) verify_test(context, test);
}

void verify_function(VerifyContext& context, Function& function, const FunctionNotes& notes) {
  FunctionVerifier(context, function, notes).run();
}

std::vector<Diagnostic> verify(Program& program, const SourceManager* sources) {
  std::vector<Diagnostic> diagnostics;
  check_symbols(program, diagnostics);
  verify_part(program, {}, sources, diagnostics);
  return diagnostics;
}

}  // namespace hostir::text
