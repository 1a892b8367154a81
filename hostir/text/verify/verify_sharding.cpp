// Checks shardings against meshes. The rules are Shardy's (docs/sharding_representation.md there).
#include <algorithm>

#include "hostir/ir/axes.h"
#include "hostir/support/characters.h"
#include "hostir/text/suggest.h"
#include "hostir/text/verify/verify_context.h"

namespace hostir::text {

namespace {

std::vector<std::string> axis_names(const Mesh& mesh) {
  std::vector<std::string> names;
  for (const MeshAxis& axis : mesh.axes) names.push_back(axis.name);
  return names;
}

// The span of the list's entry in the text: the n-th mention of its axis.
SourceSpan place_of(const VerifyContext& context, const AxisList& axes, size_t index,
                    SourceSpan span) {
  const auto before = std::count_if(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(index),
                                    [&](const AxisRef& a) { return a.name == axes[index].name; });
  return find_word(context.sources, span, axes[index].name, static_cast<int>(before));
}

// Reports consecutive sub-axes in a list that could be merged into one.
bool check_merged(VerifyContext& context, const Mesh& mesh, const AxisList& list, SourceSpan span) {
  bool ok = true;
  for (size_t i = 1; i < list.size(); ++i) {
    const AxisRef& a = list[i - 1];
    const AxisRef& b = list[i];
    if (a.name != b.name || a.whole() || b.whole() || a.pre * a.size != b.pre) continue;
    const std::string merged = merged_axes(mesh, {a, b}).front().to_string();
    context.error("sharding_c5",
                  "consecutive sub-axes " + a.to_string() + " and " + b.to_string() +
                      " are one, write " + merged,
                  find_word(context.sources, span, a.name));
    ok = false;
  }
  return ok;
}

// Checks what guides propagation: open dimensions, priorities and pinned axes.
bool check_guidance(VerifyContext& context, const Sharding& sharding, SourceSpan span,
                    OpenDimensions open) {
  const bool layout = open == OpenDimensions::kForbidden;
  bool ok = true;
  for (const DimSharding& dim : sharding.dims) {
    const std::string priority = "p" + std::to_string(dim.priority);
    if (dim.open && layout) {
      context.error("sharding_c7", "a layout has no open dimension",
                    find_word(context.sources, span, "?"));
      ok = false;
    }
    if (dim.priority != 0 && (layout || (dim.axes.empty() && !dim.open))) {
      context.error(
          "sharding_c10",
          layout ? "a layout has no priorities, because nothing propagates in a host function"
                 : "the priority of a closed dimension without axes has no effect; remove " +
                       priority + " or write {?}" + priority,
          find_word(context.sources, span, priority));
      ok = false;
    }
  }
  if (layout && !sharding.pinned.empty()) {
    context.error(
        "sharding_c11",
        "a layout lists no replicated axes: it is replicated over every axis that it does not name",
        find_word(context.sources, span, "replicated"));
    ok = false;
  }
  return ok;
}

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

bool check_axes(VerifyContext& context, const Mesh& mesh, const AxisList& axes, SourceSpan span) {
  const std::vector<AxisFault> faults = axis_faults(mesh, axes);
  for (const AxisFault& fault : faults) {
    Diagnostic& d =
        context.error(fault.id, fault.message, place_of(context, axes, fault.index, span));
    if (fault.id != "mesh_c2") continue;
    d.notes.push_back(
        {"mesh @" + mesh.name + " has axes " + quoted_list(axis_names(mesh)), mesh.span});
    suggest(d, axes[fault.index].name, axis_names(mesh));
  }
  return faults.empty();
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
  AxisList axes;
  for (const DimSharding& dim : sharding.dims) {
    axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  }
  ok = check_guidance(context, sharding, span, open) && ok;
  axes.insert(axes.end(), sharding.pinned.begin(), sharding.pinned.end());
  axes.insert(axes.end(), sharding.unreduced.begin(), sharding.unreduced.end());
  if (sharding.unreduced_kind == Reduction::kAvg) {
    context.error("sharding_c8", "a value cannot be unreduced by avg; use sum and divide", span);
    ok = false;
  }
  if (!check_axes(context, *mesh, axes, span)) return false;
  for (const DimSharding& dim : sharding.dims) {
    ok = check_merged(context, *mesh, dim.axes, span) && ok;
  }
  return check_merged(context, *mesh, sharding.unreduced, span) && ok;
}

}  // namespace hostir::text
