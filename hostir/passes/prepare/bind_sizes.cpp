#include "hostir/passes/prepare/bind_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/ops/bind_function.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

const Shape* shape_if_any(const Type& type) {
  if (const auto* t = std::get_if<TensorType>(&type)) return &t->shape;
  if (const auto* s = std::get_if<ShardType>(&type)) return &s->shape;
  return nullptr;
}

SizeBindings without(const SizeBindings& sizes, const std::vector<std::string>& names) {
  SizeBindings out;
  for (const auto& [name, size] : sizes.all()) {
    if (!contains(names, name)) out.bind(name, size);
  }
  return out;
}

bool has_axis_size(const IndexExpr& e) {
  bool found = false;
  e.for_each_leaf(
      [&](const IndexExpr& leaf) { found = found || leaf.kind() == IndexExpr::Kind::kAxisSize; });
  return found;
}

void bind_axis_sizes(const Program& program, Function& f) {
  const bool takes_them =
      std::any_of(f.params.begin(), f.params.end(), [&](const Parameter& parameter) {
        const Shape* shape = shape_if_any(f.value(parameter.value).type);
        return shape != nullptr && std::any_of(shape->begin(), shape->end(), has_axis_size);
      });
  if (!takes_them) return;
  const IndexExpr::Lookup known = axis_sizes(program, f);
  for (Value& value : f.values) bind_type(value.type, known);
  for (ResultDecl& result : f.results) bind_type(result.type, known);
  for (Instruction& instruction : f.instructions) bind_attributes(instruction, known);
}

void bind_reachable(Program& program, std::string_view name, const SizeBindings& sizes,
                    std::set<std::string>& done) {
  Function* f = program.find_function(name);
  if (f == nullptr || !done.emplace(name).second) return;
  bind_function(*f, sizes);
  bind_axis_sizes(program, *f);
  std::vector<std::string> callees;
  for (const Instruction& i : f->instructions) {
    for (const auto& [attribute, value] : i.attributes.entries()) {
      if (const auto* symbol = std::get_if<Symbol>(&value)) callees.push_back(symbol->name);
    }
  }
  // Only calls share the caller's names. A launch binds the size names in a kernel's types from its
  // operands. Other sizes in the kernel's attributes, as lowering writes them, are those of the
  // caller.
  for (const std::string& callee : callees) {
    Function* target = program.find_function(callee);
    if (target == nullptr) continue;
    if (target->kind == FunctionKind::kHost) bind_reachable(program, callee, sizes, done);
    if (target->kind == FunctionKind::kKernel && size_in_attributes(*target))
      bind_function(*target, without(sizes, unbound_sizes(*target)));
  }
}

// " with ?N = 2": the bindings that an expression uses.
std::string bindings_of(const IndexExpr& e, const SizeBindings& sizes) {
  std::string out;
  std::set<std::string> listed;
  e.for_each_leaf([&](const IndexExpr& leaf) {
    if (leaf.kind() != IndexExpr::Kind::kSize) return;
    const auto size = sizes.find(leaf.symbol());
    if (!size || !listed.insert(leaf.symbol()).second) return;
    out += fmt::format("{} ?{} = {}", out.empty() ? " with" : ",", leaf.symbol(), *size);
  });
  return out;
}

bool is_number_without_value(const IndexExpr& e) {
  bool all = !e.is_const();
  e.for_each_leaf([&](const IndexExpr& leaf) { all = all && leaf.is_const(); });
  return all;
}

// Every extent is a number that is not negative, and no value has more elements than a file or
// memory can hold. Kernels may keep a value in registers, so its memory is not checked.
Expected<void> check_extents(const Value& written, const Value& bound, const SizeBindings& sizes) {
  const Shape* before = shape_if_any(written.type);
  const Shape* after = shape_if_any(bound.type);
  if (after == nullptr) return {};
  Extents extents;
  bool all_known = true;
  for (size_t d = 0; d < after->size(); ++d) {
    const IndexExpr& e = (*after)[d];
    const bool has_no_value = is_number_without_value(e);
    if (has_no_value || (e.is_const() && e.value() < 0)) {
      const std::string what =
          has_no_value ? "is not a number" : fmt::format("becomes {}", e.value());
      return fail_at(
          ErrorKind::kRuntime, "size_c4",
          fmt::format("dimension {} of %{}, {}, {}{}; a size must be at least 0", d, bound.name,
                      (*before)[d].to_string(), what, bindings_of((*before)[d], sizes)),
          written.span);
    }
    if (e.is_const())
      extents.push_back(e.value());
    else
      all_known = false;
  }
  if (!all_known) return {};
  const auto count = element_count(extents);
  if (count && *count <= INT64_MAX / 16) return {};
  return fail_at(ErrorKind::kRuntime, "size_c5",
                 fmt::format("%{} is {}: more elements than the {} that a tensor may have",
                             bound.name, to_string(bound.type), INT64_MAX / 16),
                 written.span);
}

// True for a matrix whose dimension `d` does not fit, but would if the matrix were transposed.
std::string hint_at_transposed(const Shape& shape, const Extents& given, size_t d,
                               const SizeBindings& sizes) {
  if (shape.size() != 2 || given[0] == given[1]) return {};
  const auto wanted = shape[d].evaluate(sizes.lookup());
  const auto other = shape[1 - d].evaluate(sizes.lookup());
  if (!wanted || *wanted != given[1 - d]) return {};
  if (other && *other != given[d] && *other != given[1 - d]) return {};
  return fmt::format("; its transpose, {}x{}, would fit", given[1], given[0]);
}

// The names of an expression that have no size yet.
std::set<std::string> unknown_in(const IndexExpr& e, const SizeBindings& sizes) {
  std::set<std::string> names;
  e.for_each_leaf([&](const IndexExpr& leaf) {
    if (leaf.kind() == IndexExpr::Kind::kSize && !sizes.find(leaf.symbol()))
      names.insert(leaf.symbol());
  });
  return names;
}

// The size of the only unknown name that makes the expression equal `extent`, if it is linear in
// it.
std::optional<int64_t> solved(const IndexExpr& e, const std::string& name, int64_t extent,
                              const SizeBindings& sizes) {
  const auto at = [&](int64_t size) -> std::optional<int64_t> {
    SizeBindings tried = sizes;
    tried.bind(name, size);
    const auto value = e.evaluate(tried.lookup());
    return value ? std::optional(*value) : std::nullopt;
  };
  const auto zero = at(0);
  const auto one = at(1);
  int64_t slope = 0;
  int64_t rest = 0;
  if (!zero || !one || __builtin_sub_overflow(*one, *zero, &slope) || slope == 0) return {};
  if (__builtin_sub_overflow(extent, *zero, &rest)) return {};
  if (slope == -1 && rest == INT64_MIN) return {};
  const int64_t size = rest / slope;
  if (size < 0 || at(size) != extent) return std::nullopt;
  return size;
}

// Binds each name that is the only unknown of an expression, until no such expression is left.
void solve_expressions(const Function& function, std::span<const Extents> inputs,
                       SizeBindings& sizes) {
  for (bool found = true; found;) {
    found = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Shape* shape = shape_if_any(function.value(function.params[i].value).type);
      for (size_t d = 0; shape != nullptr && d < shape->size(); ++d) {
        const auto unknown = unknown_in((*shape)[d], sizes);
        if (unknown.size() != 1) continue;
        const auto size = solved((*shape)[d], *unknown.begin(), inputs[i][d], sizes);
        if (!size) continue;
        sizes.bind(*unknown.begin(), *size);
        found = true;
      }
    }
  }
}

}  // namespace

Expected<SizeBindings> infer_sizes(const Function& function, std::span<const Extents> inputs,
                                   std::span<const std::pair<std::string, int64_t>> given) {
  SizeBindings sizes;
  std::map<std::string, std::string> origin;  // which dimension bound a size
  const auto contradicts = [&](const Value& v, size_t d, int64_t extent, const IndexExpr& wanted) {
    return fail(ErrorKind::kRuntime, "size_c2",
                fmt::format("dimension {} of %{} is {}, the program says {}", d, v.name, extent,
                            wanted.to_string()));
  };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& v = function.value(function.params[i].value);
    const Shape* shape = shape_if_any(v.type);
    if (shape == nullptr) continue;
    if (shape->size() != inputs[i].size()) {
      return fail(ErrorKind::kRuntime, "size_c2",
                  fmt::format("%{} has {} dimensions, the input has {}", v.name, shape->size(),
                              inputs[i].size()));
    }
    for (size_t d = 0; d < shape->size(); ++d) {
      const IndexExpr& e = (*shape)[d];
      if (e.kind() != IndexExpr::Kind::kSize) continue;
      const auto first =
          origin.try_emplace(e.symbol(), fmt::format("dimension {} of %{}", d, v.name));
      if (sizes.bind(e.symbol(), inputs[i][d])) continue;
      return fail(
          ErrorKind::kRuntime, "size_c2",
          fmt::format("dimension {} of %{} is {}, but ?{} is {} already, from {}{}", d, v.name,
                      inputs[i][d], e.symbol(), *sizes.find(e.symbol()), first.first->second,
                      hint_at_transposed(*shape, inputs[i], d, sizes)));
    }
  }
  for (const auto& [name, size] : given) {
    if (sizes.bind(name, size)) continue;
    return fail(ErrorKind::kUsage, "input_size",
                fmt::format("size {} is given as {}, but the inputs make it {}", name, size,
                            *sizes.find(name)));
  }
  solve_expressions(function, inputs, sizes);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& v = function.value(function.params[i].value);
    const Shape* shape = shape_if_any(v.type);
    if (shape == nullptr) continue;
    for (size_t d = 0; d < shape->size(); ++d) {
      if (const auto unknown = unknown_in((*shape)[d], sizes); !unknown.empty()) {
        return fail(ErrorKind::kUsage, "input_size",
                    fmt::format("dimension {} of %{} is {}, the input has {}, and ?{} is not "
                                "known; bind it with --size {}=8",
                                d, v.name, (*shape)[d].to_string(), inputs[i][d], *unknown.begin(),
                                *unknown.begin()));
      }
      if (has_axis_size((*shape)[d])) continue;  // input_tensors() compares it
      HOSTIR_ASSIGN_OR_RETURN(const int64_t wanted, (*shape)[d].evaluate(sizes.lookup()));
      if (wanted != inputs[i][d]) return contradicts(v, d, inputs[i][d], (*shape)[d]);
    }
  }
  return sizes;
}

Expected<Program> bind_sizes(const Program& program, std::string_view function,
                             const SizeBindings& sizes) {
  Program out = program;
  std::set<std::string> done;
  bind_reachable(out, function, sizes, done);
  for (const Function& before : program.functions) {
    if (!done.contains(before.name)) continue;
    const Function& after = *out.find_function(before.name);
    for (size_t v = 0; v < after.values.size(); ++v)
      HOSTIR_TRY(check_extents(before.values[v], after.values[v], sizes));
  }
  // Once its sizes are numbers, a fusion is no longer the gradient of a kernel with size names.
  for (Function& kernel : out.functions) {
    if (done.contains(kernel.gradient)) kernel.gradient.clear();
  }
  return out;
}

IndexExpr::Lookup axis_sizes(const Program& program, const Function& function) {
  const Mesh* mesh = program.find_mesh(function.mesh);
  return [mesh](const IndexExpr& leaf) -> std::optional<int64_t> {
    if (mesh == nullptr || leaf.kind() != IndexExpr::Kind::kAxisSize) return std::nullopt;
    const auto axis = mesh->axis_index(leaf.symbol());
    return axis ? std::optional(mesh->axes[*axis].size) : std::nullopt;
  };
}

std::vector<std::string> unbound_sizes(const Function& function) {
  std::set<std::string> names;
  for (const Value& v : function.values) {
    const Shape* shape = shape_if_any(v.type);
    if (shape == nullptr) continue;
    for (const IndexExpr& e : *shape) {
      e.for_each_leaf([&](const IndexExpr& leaf) {
        if (leaf.kind() == IndexExpr::Kind::kSize) names.insert(leaf.symbol());
      });
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace hostir
