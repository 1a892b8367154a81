#include "hostir/api/open/example_inputs.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/io/generate.h"
#include "hostir/passes/prepare/example_inputs.h"
#include "hostir/script/test_run.h"

namespace hostir::api {

namespace {

constexpr size_t kNamedInputs = 24;  // maximum number listed in the note

constexpr int64_t kSmallSize = 8;

// A run of the function in a test, and the values bound before it.
struct FoundRun {
  const RunStatement* run = nullptr;
  script::Environment environment;
};

// The first run of `function` in the statements. Adds the bindings before it to `environment`.
Expected<const RunStatement*> find_run(const std::vector<Statement>& statements,
                                       const std::string& function, const std::string& directory,
                                       script::Environment& environment) {
  for (const Statement& statement : statements) {
    if (const auto* bind = std::get_if<BindStatement>(&statement.body)) {
      HOSTIR_ASSIGN_OR_RETURN(auto value, script::value_of(bind->value, environment, directory));
      environment.insert_or_assign(bind->name, std::move(value));
    } else if (const auto* run = std::get_if<RunStatement>(&statement.body)) {
      if (run->function == function) return run;
    } else if (const auto* repeat = std::get_if<RepeatStatement>(&statement.body)) {
      HOSTIR_ASSIGN_OR_RETURN(const RunStatement* inside,
                              find_run(repeat->body, function, directory, environment));
      if (inside) return inside;
    }
  }
  return nullptr;
}

const Type& type_of(const Function& f, const Parameter& param) { return f.value(param.value).type; }

void bind_sizes(const Function& f, std::vector<std::pair<std::string, int64_t>>& sizes) {
  for (const Parameter& param : f.params) {
    for (const IndexExpr& extent : shape_of(type_of(f, param))) {
      extent.for_each_leaf([&](const IndexExpr& leaf) {
        const bool known = std::any_of(sizes.begin(), sizes.end(),
                                       [&](const auto& s) { return s.first == leaf.symbol(); });
        if (leaf.kind() == IndexExpr::Kind::kSize && !known)
          sizes.emplace_back(leaf.symbol(), kSmallSize);
      });
    }
  }
}

}  // namespace

Expected<std::string> add_example_inputs(const Program& program, const std::string& function,
                                         const std::string& directory,
                                         std::vector<interp::NamedInput>& inputs,
                                         std::vector<std::pair<std::string, int64_t>>& sizes) {
  const Function* f = program.find_function(function);
  if (!f || inputs.size() >= f->params.size()) return std::string();
  for (const Parameter& param : f->params) {
    if (!is_tensor(type_of(*f, param))) return std::string();  // prepare() reports the error
  }
  if (inputs.empty() && sizes.empty()) {
    for (const TestPiece& test : program.tests) {
      FoundRun found;
      HOSTIR_ASSIGN_OR_RETURN(found.run,
                              find_run(test.statements, function, directory, found.environment));
      if (!found.run || found.run->arguments.size() != f->params.size()) continue;
      for (size_t i = 0; i < f->params.size(); ++i) {
        HOSTIR_ASSIGN_OR_RETURN(
            auto value, script::value_of(found.run->arguments[i], found.environment, directory));
        inputs.push_back({f->value(f->params[i].value).name, std::move(value)});
      }
      return fmt::format("no inputs were given: using those of the test \"{}\"", test.title);
    }
  }
  if (inputs.empty()) bind_sizes(*f, sizes);
  SizeBindings bound;
  for (const auto& [size, number] : sizes) bound.bind(size, number);
  const ExampleInputs example(program, *f, bound.lookup());
  std::string made;
  size_t count = 0;
  for (size_t i = 0; i < f->params.size(); ++i) {
    const std::string& name = f->value(f->params[i].value).name;
    const bool given = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const interp::NamedInput& x) { return x.name == name; });
    if (given) continue;
    ValueSpec spec = example(i, i + 1);
    if (count++ < kNamedInputs) {
      made +=
          fmt::format("{}%{} = {}", made.empty() ? "" : ", ", name, io::format_value_spec(spec));
    }
    inputs.push_back({name, std::move(spec)});
  }
  if (count > kNamedInputs) made += fmt::format(" and {} more", count - kNamedInputs);
  return "generated the inputs that were not given: " + made;
}

}  // namespace hostir::api
