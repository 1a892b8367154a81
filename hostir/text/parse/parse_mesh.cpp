#include <algorithm>

#include "hostir/text/attribute_text.h"
#include "hostir/text/suggest.h"

namespace hostir::text {

namespace {

bool parse_device_ids(Cursor& cursor, Mesh& mesh) {
  const SourceSpan word = cursor.span_here();
  cursor.next();
  if (!cursor.expect("=")) return false;
  auto ids = parse_int_list(cursor);
  if (!ids) return false;
  const SourceSpan span = cursor.span_from(word.begin);
  if (static_cast<int64_t>(ids->size()) != mesh.size()) {
    cursor.error("mesh_c5",
                 "device_ids has " + std::to_string(ids->size()) + " entries, mesh @" + mesh.name +
                     " has " + std::to_string(mesh.size()) + " positions",
                 span);
    return false;
  }
  std::vector<int64_t> sorted = *ids;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back() >= Mesh::kMaxPositions) {
    cursor.error("mesh_c5",
                 "device_ids holds rank " + std::to_string(sorted.back()) + "; the highest is " +
                     std::to_string(Mesh::kMaxPositions - 1),
                 span);
    return false;
  }
  if (twice != sorted.end() || (!sorted.empty() && sorted.front() < 0)) {
    const bool negative = !sorted.empty() && sorted.front() < 0;
    cursor.error("mesh_c5",
                 negative ? "device_ids holds the negative rank " + std::to_string(sorted.front())
                          : "device_ids holds rank " + std::to_string(*twice) + " twice",
                 span);
    return false;
  }
  mesh.device_ids = std::move(*ids);
  bool identity = true;
  for (size_t i = 0; i < mesh.device_ids.size(); ++i) {
    identity = identity && mesh.device_ids[i] == static_cast<int64_t>(i);
  }
  if (identity) mesh.device_ids.clear();
  return true;
}

bool parse_axis(Cursor& cursor, Mesh& mesh) {
  const SourceSpan span = cursor.span_here();
  const Token* name = cursor.expect(TokenKind::kWord, "a mesh axis, as in tp=4");
  if (!name || !cursor.expect("=")) return false;
  const SourceSpan size_span = cursor.span_here();
  const auto size = parse_int(cursor, "the size of the axis");
  if (!size) return false;
  const std::string text(name->text);
  if (mesh.axis_index(text)) {
    cursor.error("mesh_c1", "axis \"" + text + "\" appears twice in mesh @" + mesh.name, span);
    return false;
  }
  if (*size < 1) {
    cursor.error("mesh_c4",
                 "axis \"" + text + "\" has size " + std::to_string(*size) + ", sizes begin at 1",
                 size_span);
    return false;
  }
  if (*size > Mesh::kMaxPositions || mesh.size() * *size > Mesh::kMaxPositions) {
    cursor.error("mesh_c7",
                 "mesh @" + mesh.name + " has more than " + std::to_string(Mesh::kMaxPositions) +
                     " positions; the ids of tasks have no room for more ranks",
                 size_span);
    return false;
  }
  mesh.axes.push_back({text, *size});
  return true;
}

bool parse_axes_list(Cursor& cursor, Mesh& mesh) {
  cursor.next();
  while (!cursor.at(">")) {
    const bool ids = cursor.at("device_ids");
    if (!(ids ? parse_device_ids(cursor, mesh) : parse_axis(cursor, mesh))) return false;
    if (ids || !cursor.accept(",")) break;
  }
  if (!cursor.expect(">")) return false;
  return !cursor.at("device_ids") || parse_device_ids(cursor, mesh);
}

bool parse_fixed(Cursor& cursor, const Mesh& parent, Mesh& mesh) {
  const SourceSpan span = cursor.span_here();
  const Token* axis = cursor.expect(TokenKind::kWord, "a mesh axis, as in [pp=0]");
  if (!axis || !cursor.expect("=")) return false;
  const SourceSpan position_span = cursor.span_here();
  const auto position = parse_int(cursor);
  if (!position) return false;
  const std::string name(axis->text);
  const auto index = parent.axis_index(name);
  if (!index) {
    cursor.error("mesh_c2", "unknown axis \"" + name + "\" in mesh @" + parent.name, span);
    return false;
  }
  for (const FixedCoord& other : mesh.fixed) {
    if (other.axis != name) continue;
    cursor.error("mesh_c1", "axis \"" + name + "\" is fixed twice", span);
    return false;
  }
  const int64_t size = parent.axes[*index].size;
  if (*position < 0 || *position >= size) {
    cursor.error("mesh_c6",
                 "position " + std::to_string(*position) + " is not on axis \"" + name +
                     "\", which has " + std::to_string(size),
                 position_span);
    return false;
  }
  mesh.fixed.push_back({name, *position});
  return true;
}

bool parse_submesh(Cursor& cursor, const Program& program, Mesh& mesh) {
  const SourceSpan span = cursor.span_here();
  auto parent_name = cursor.expect_symbol("a mesh");
  if (!parent_name) return false;
  const Mesh* parent = program.find_mesh(*parent_name);
  if (!parent) {
    Diagnostic& d = cursor.error(
        "mesh_c8", "mesh @" + *parent_name + " is not declared before this line", span);
    std::vector<std::string> names;
    for (const Mesh& m : program.meshes) names.push_back(m.name);
    suggest(d, *parent_name, names, "@");
    return false;
  }
  mesh.parent = std::move(*parent_name);
  if (!cursor.expect("[")) return false;
  do {
    if (!parse_fixed(cursor, *parent, mesh)) return false;
  } while (cursor.accept(","));
  if (!cursor.expect("]")) return false;
  resolve_sub_mesh(*parent, mesh);
  return true;
}

}  // namespace

std::optional<Mesh> parse_mesh(Cursor& cursor, const Program& program) {
  Mesh mesh;
  mesh.span = cursor.span_here();
  auto name = cursor.expect_symbol("a name, as in @m");
  if (!name || !cursor.expect("=")) return std::nullopt;
  mesh.name = std::move(*name);
  if (cursor.at(TokenKind::kSymbol)) {
    if (!parse_submesh(cursor, program, mesh)) return std::nullopt;
    return mesh;
  }
  if (!cursor.at("<")) {
    cursor.unexpected("the axes, as in <dp=2, tp=4>, or a sub-mesh, as in @w[pp=0]");
    return std::nullopt;
  }
  if (!parse_axes_list(cursor, mesh)) return std::nullopt;
  return mesh;
}

}  // namespace hostir::text
