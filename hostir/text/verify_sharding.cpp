// Shardings against meshes. The rules are Shardy's (reference: docs/sharding_representation.md).
#include <algorithm>

#include "hostir/text/suggest.h"
#include "hostir/text/verify_context.h"

namespace hostir::text {

namespace {

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<std::string> axis_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const MeshAxis& axis : mesh.axes) names.push_back(axis.name);
  return names;
}

// An axis with its place among the axes of the same name, for the caret.
struct PlacedAxis {
  const AxisRef* axis;
  int occurrence;
};

std::vector<PlacedAxis> placed(const std::vector<const AxisRef*>& axes) {
  std::vector<PlacedAxis> out;
  for (const AxisRef* axis : axes) {
    const auto before = std::count_if(
        out.begin(), out.end(), [&](const PlacedAxis& p) { return p.axis->name == axis->name; });
    out.push_back({axis, static_cast<int>(before)});
  }
  return out;
}

class AxisChecker {
 public:
  AxisChecker(VerifyContext& context, const Mesh& mesh, SourceSpan span)
      : context_(context), mesh_(mesh), span_(span) {}

  bool check(const std::vector<const AxisRef*>& axes) {
    const std::vector<PlacedAxis> list = placed(axes);
    for (size_t i = 0; i < list.size(); ++i) {
      if (!known(list[i]) || !well_formed(list[i])) continue;
      for (size_t j = 0; j < i; ++j) {
        if (list[j].axis->name == list[i].axis->name && !disjoint(*list[j].axis, list[i])) break;
      }
    }
    return ok_;
  }

  // Consecutive sub-axes of one list that form a larger one.
  bool check_merged(const std::vector<AxisRef>& list) {
    for (size_t i = 1; i < list.size(); ++i) {
      const AxisRef& a = list[i - 1];
      const AxisRef& b = list[i];
      if (a.name != b.name || a.whole() || b.whole() || a.pre * a.size != b.pre) continue;
      const int64_t size = a.size * b.size;
      const auto index = mesh_.axis_index(a.name);
      const bool whole = index && a.pre == 1 && size == mesh_.axes[*index].size;
      const AxisRef merged{a.name, a.pre, whole ? 0 : size};
      report("sharding_c5",
             "consecutive sub-axes " + a.to_string() + " and " + b.to_string() +
                 " are one, write " + merged.to_string(),
             {&a, 0});
    }
    return ok_;
  }

 private:
  Diagnostic& report(std::string id, std::string message, const PlacedAxis& at) {
    ok_ = false;
    return context_.error(std::move(id), std::move(message),
                          find_word(context_.sources, span_, at.axis->name, at.occurrence));
  }

  bool known(const PlacedAxis& at) {
    const std::string& name = at.axis->name;
    if (mesh_.axis_index(name)) return true;
    Diagnostic& d = report("mesh_c2", "unknown axis \"" + name + "\" in mesh @" + mesh_.name, at);
    d.notes.push_back(
        {"mesh @" + mesh_.name + " has axes " + quoted_list(axis_names(mesh_)), mesh_.span});
    suggest(d, name, axis_names(mesh_));
    return false;
  }

  bool well_formed(const PlacedAxis& at) {
    const AxisRef& axis = *at.axis;
    if (axis.whole()) return true;
    const int64_t size = mesh_.axes[*mesh_.axis_index(axis.name)].size;
    // Division instead of products: sub-axes come from text and may be huge.
    const bool fits = axis.pre >= 1 && axis.size >= 2 && size % axis.pre == 0 &&
                      (size / axis.pre) % axis.size == 0;
    if (!fits) {
      report("sharding_c4",
             "sub-axis " + axis.to_string() + " does not cut axis \"" + axis.name + "\" of size " +
                 std::to_string(size) + " evenly",
             at);
      return false;
    }
    if (axis.pre == 1 && axis.size == size) {
      report("sharding_c6",
             "sub-axis " + axis.to_string() + " is the whole axis, write " + axis.name, at);
      return false;
    }
    return true;
  }

  bool disjoint(const AxisRef& earlier, const PlacedAxis& at) {
    const AxisRef& axis = *at.axis;
    if (earlier == axis) {
      report("sharding_c2", "axis \"" + axis.to_string() + "\" stands twice", at);
      return false;
    }
    const bool apart =
        !earlier.whole() && !axis.whole() &&
        (earlier.pre * earlier.size <= axis.pre || axis.pre * axis.size <= earlier.pre);
    if (apart) return true;
    report("sharding_c3", earlier.to_string() + " and " + axis.to_string() + " overlap", at);
    return false;
  }

  VerifyContext& context_;
  const Mesh& mesh_;
  SourceSpan span_;
  bool ok_ = true;
};

}  // namespace

SourceSpan find_word(const SourceManager* sources, SourceSpan span, std::string_view word,
                     int occurrence) {
  if (!sources || !span.valid() || word.empty()) return span;
  const std::string_view text = sources->text(span.file);
  for (size_t at = span.begin; (at = text.find(word, at)) != std::string_view::npos; ++at) {
    if (at + word.size() > span.end) break;
    const bool begins = at == 0 || !(is_word_char(text[at - 1]) || text[at - 1] == '@');
    const bool ends = at + word.size() >= text.size() || !is_word_char(text[at + word.size()]);
    if (begins && ends && occurrence-- == 0) {
      return {span.file, static_cast<uint32_t>(at), static_cast<uint32_t>(at + word.size())};
    }
  }
  return span;
}

const Mesh* check_mesh(VerifyContext& context, const std::string& name, SourceSpan span) {
  if (const Mesh* mesh = context.program.find_mesh(name)) return mesh;
  if (context.is_broken_symbol(name)) return nullptr;
  Diagnostic& d = context.error("mesh_c3", "unknown mesh @" + name, span);
  std::vector<std::string> names;
  for (const Mesh& mesh : context.program.meshes) names.push_back(mesh.name);
  suggest(d, name, names, "@");
  return nullptr;
}

bool check_axes(VerifyContext& context, const Mesh& mesh, const std::vector<const AxisRef*>& axes,
                SourceSpan span) {
  return AxisChecker(context, mesh, span).check(axes);
}

bool check_sharding(VerifyContext& context, const Sharding& sharding, size_t rank, SourceSpan span,
                    OpenDimensions open) {
  if (sharding.span.valid()) span = sharding.span;
  const Mesh* mesh = check_mesh(context, sharding.mesh, span);
  if (!mesh) return false;
  bool ok = true;
  if (sharding.dims.size() != rank) {
    context.error("sharding_c1",
                  "sharding has " + std::to_string(sharding.dims.size()) +
                      " dimensions, the tensor has " + std::to_string(rank),
                  span);
    ok = false;
  }
  std::vector<const AxisRef*> axes;
  for (const DimSharding& dim : sharding.dims) {
    for (const AxisRef& axis : dim.axes) axes.push_back(&axis);
    if (dim.open && open == OpenDimensions::kForbidden) {
      context.error("sharding_c7", "a layout has no open dimension",
                    find_word(context.sources, span, "?"));
      ok = false;
    }
  }
  for (const AxisRef& axis : sharding.unreduced) axes.push_back(&axis);
  if (sharding.unreduced_kind == Reduction::kAvg) {
    context.error("sharding_c8", "a value cannot be unreduced by avg; use sum and divide", span);
    ok = false;
  }
  AxisChecker checker(context, *mesh, span);
  if (!checker.check(axes)) return false;
  for (const DimSharding& dim : sharding.dims) ok = checker.check_merged(dim.axes) && ok;
  return checker.check_merged(sharding.unreduced) && ok;
}

}  // namespace hostir::text
