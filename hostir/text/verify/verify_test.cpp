// Checks tests against the program that they run. The runner checks everything at run time.
#include "hostir/text/suggest.h"
#include "hostir/text/verify/verify_context.h"

namespace hostir::text {

namespace {

class TestVerifier {
 public:
  TestVerifier(VerifyContext& context, const TestPiece& test) : context_(context), test_(test) {}

  void run() { visit(test_.statements); }

 private:
  void visit(const std::vector<Statement>& statements) {
    for (const Statement& s : statements) {
      span_ = s.span;
      std::visit([this](const auto& body) { check(body); }, s.body);
    }
  }

  void check(const BindStatement& s) {
    check_value(s.value);
    bound_.insert(s.name);
  }
  void check(const ChangeStatement&) {}
  void check(const RunStatement& s) {
    for (const ValueSpec& v : s.arguments) check_value(v);
    if (s.against) find_function(*s.against);
    const Function* f = find_function(s.function);
    run_mesh_ = f ? mesh_of_run(*f) : nullptr;
    resized_ = !s.mesh_sizes.empty();
    if (!f) return;
    if (s.arguments.size() != f->params.size()) {
      context_.error("test_c4",
                     "@" + f->name + " takes " + std::to_string(f->params.size()) + " values, " +
                         std::to_string(s.arguments.size()) + " given",
                     span_);
    }
    for (const auto& [name, output] : s.feeding) check_feeding(*f, name, output);
  }
  void check(const RepeatStatement& s) { visit(s.body); }
  void check(const ExpectValue& s) { check_value(s.expected); }
  void check(const ExpectSharding& s) {
    const Function* f = find_function(s.function);
    if (!f) return;
    const auto value = f->find_value(s.value);
    if (!value) return unknown_value(*f, s.value);
    const Type& type = f->value(*value).type;
    if (!std::holds_alternative<TensorType>(type) && !std::holds_alternative<ShardType>(type))
      return;
    check_sharding(context_, s.sharding, shape_of(type).size(), span_, OpenDimensions::kAllowed);
  }
  void check(const ExpectCollectives& s) {
    for (const CollectiveLine& line : s.lines) {
      const Mesh* mesh = line.mesh.empty() ? run_mesh_ : check_mesh(context_, line.mesh, span_);
      // The runner checks a resized mesh.
      if (mesh != nullptr && !resized_) check_axes(context_, *mesh, line.over, span_);
    }
  }
  void check(const ExpectNo&) {}
  void check(const ExpectSameAsUnsharded&) {}
  void check(const ExpectNoLeaks&) {}
  void check(const ExpectError&) {}
  void check(const ExpectDeadlock&) {}
  void check(const ExpectHappensBefore&) {}

  // The mesh for the axes in expect_collectives. A fusion runs on the mesh that it uses, else on
  // the program's first mesh.
  const Mesh* mesh_of_run(const Function& f) const {
    const Program& program = context_.program;
    if (f.kind == FunctionKind::kHost) return program.find_mesh(f.mesh);
    for (const Value& v : f.values) {
      if (const Sharding* s = sharding_of(v.type)) return program.find_mesh(s->mesh);
    }
    for (const ResultDecl& r : f.results) {
      if (const Sharding* s = sharding_of(r.type)) return program.find_mesh(s->mesh);
    }
    return program.meshes.empty() ? nullptr : &program.meshes.front();
  }

  void check_value(const ValueSpec& v) {
    if (v.kind != ValueSpec::Kind::kName || bound_.contains(v.text)) return;
    Diagnostic& d = context_.error(
        "test_c5", "%" + v.text + " has not been bound earlier in this test", v.span);
    suggest(d, v.text, {bound_.begin(), bound_.end()}, "%");
  }

  void check_feeding(const Function& f, const std::string& name, int64_t output) {
    bool parameter = bound_.contains(name);  // bound in the test, or a parameter
    for (const Parameter& p : f.params) parameter = parameter || f.value(p.value).name == name;
    if (!parameter) unknown_value(f, name);
    if (output >= 1 && output <= static_cast<int64_t>(f.results.size())) return;
    context_.error("test_c5",
                   "@" + f.name + " has no output " + std::to_string(output) + ", it has " +
                       std::to_string(f.results.size()),
                   span_);
  }

  void unknown_value(const Function& f, const std::string& name) {
    Diagnostic& d = context_.error("test_c5", "@" + f.name + " has no value %" + name, span_);
    std::vector<std::string> names;
    for (const Value& v : f.values) names.push_back(v.name);
    suggest(d, name, names, "%");
  }

  const Function* find_function(const std::string& name) {
    const Function* f = context_.program.find_function(name);
    if (f || context_.is_broken_symbol(name)) return f;
    Diagnostic& d = context_.error("symbol_c2", "unknown function @" + name,
                                   find_word(context_.sources, span_, "@" + name));
    std::vector<std::string> names;
    for (const Function& other : context_.program.functions) names.push_back(other.name);
    suggest(d, name, names, "@");
    return nullptr;
  }

  VerifyContext& context_;
  const TestPiece& test_;
  std::set<std::string> bound_;
  const Mesh* run_mesh_ = nullptr;  // mesh of the last run
  bool resized_ = false;            // the last run resized it
  SourceSpan span_;
};

}  // namespace

void verify_test(VerifyContext& context, const TestPiece& test) {
  TestVerifier(context, test).run();
}

}  // namespace hostir::text
