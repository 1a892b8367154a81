// The table of all language rules, for documentation, checks and negative scripts.
#include <array>

#include "hostir/text/verify/verifier.h"

namespace hostir::text {

namespace {

constexpr std::array kConstraints = std::to_array<TextConstraint>({
    {"syntax_c1", "Tokens follow the grammar."},
    {"syntax_c2", "Bytes outside of strings and comments form tokens."},
    {"syntax_c3", "A string is closed on its line."},
    {"syntax_c4", "Numbers fit in 64 bits; instructions are numbered from 1."},
    {"syntax_c5", "Regions, parentheses and expressions are not nested or chained too deeply."},
    {"syntax_c6", "A shape is sizes and a dtype, as in 4x?Bxf32."},
    {"symbol_c1", "A symbol is declared once in its part of the file."},
    {"symbol_c2", "A symbol that is used is declared in the same part."},
    {"value_c1", "A name is not defined again where it is visible."},
    {"value_c2", "A value that is used is defined earlier, in this region or one around it."},
    {"value_c3", "An inline value has a shape and as many numbers as it has elements, or one."},
    {"mesh_c1", "Axis names are unique in a mesh, and a sub-mesh fixes each axis at most once."},
    {"mesh_c2", "An axis that is used exists in its mesh."},
    {"mesh_c3", "A mesh that is used is declared."},
    {"mesh_c4", "The size of an axis is at least 1."},
    {"mesh_c5", "device_ids has one distinct, non-negative rank per position."},
    {"mesh_c6", "A fixed coordinate of a sub-mesh is within its axis."},
    {"mesh_c7", "A mesh has at most 16777216 positions."},
    {"mesh_c8", "The mesh that a sub-mesh is taken from is declared before it."},
    {"mesh_c9", "The operands of an op are on one mesh, or its result says on which one it runs."},
    {"machine_c1", "A field of a machine is one of the known ones."},
    {"machine_c2", "Numbers of a machine are not negative."},
    {"machine_c3", "A field of a machine is given once."},
    {"sharding_c1", "A sharding has one axis list for each dimension."},
    {"sharding_c2", "An axis appears at most once in the lists of a sharding."},
    {"sharding_c3", "Sub-axes of one axis in a sharding do not overlap each other or the axis."},
    {"sharding_c4",
     "A sub-axis (pre)size cuts its axis evenly; pre is at least 1, size at least 2."},
    {"sharding_c5", "Consecutive sub-axes that form a larger one are written as one."},
    {"sharding_c6", "A sub-axis that is the whole axis is written as the axis."},
    {"sharding_c7", "A layout of a host function has no open dimension."},
    {"sharding_c8",
     "A value is reduced with sum, prod, min or max; avg is a reduction of collectives."},
    {"sharding_c9",
     "Sub-axes of one axis are compatible: the end of the major one divides the start of the minor "
     "one."},
    {"sharding_c10", "Only a dimension in a fusion that is open or has axes has a priority."},
    {"sharding_c11", "Only a sharding in a fusion has replicated axes."},
    {"sharding_c12",
     "Only a dimension with axes is cut into blocks or between runs of elements, of one element or "
     "more; blocks and turned parts need a closed one."},
    {"sharding_c13", "A value of i1 is not unreduced, as no collective reduces i1."},
    {"type_c1", "A written type equals the inferred one."},
    {"type_c2", "Parameters, results and values have a type that their kind of function works on."},
    {"type_c3", "Sizes are not negative and use only names that are sizes or integers."},
    {"op_c1", "An operation has the operands that its record lists."},
    {"op_c2", "An attribute is one of those that the operation has."},
    {"op_c3", "Required attributes are given."},
    {"op_c4", "An attribute's value has the type that the record gives it."},
    {"op_c5", "Every result of an operation is named, except its event."},
    {"op_c6", "An operation exists."},
    {"op_c7", "Fusions and kernels compute; host functions launch, communicate and wait."},
    {"op_c8", "An attribute is given once."},
    {"op_c9", "Ops that expand into others are allowed in fusions, not in kernels."},
    {"gradient_c1", "The gradient of a fusion is declared after that fusion."},
    {"function_c1", "A fusion, and a function with results, ends with return."},
    {"function_c2", "Result names are unique."},
    {"function_c3",
     "The name and type of an alias are those of a parameter, which has one alias at most."},
    {"function_c4",
     "A kernel's sharding rule matches its parameters and results, and the body works on any part "
     "that the rule allows."},
    {"function_c5", "The number of returned values is the number of declared results."},
    {"function_c6", "A returned value has the declared shape and dtype."},
    {"function_c7", "return is the last instruction of a function and appears nowhere else."},
    {"function_c8",
     "The parameters and results of a kernel's gradient correspond to those of the kernel, by "
     "name."},
    {"host_c1", "A parameter is written only if it is inout."},
    {"host_c2", "The ranks of a buffer's mesh are ranks of the host function's mesh."},
    {"host_c3", "A returned buffer has the declared layout."},
    {"host_c4", "Index expressions use axes of the mesh, sizes, and integers of the host."},
    {"host_c5", "A new layout of a buffer is on the buffer's mesh."},
    {"test_c1", "A statement of a test is one of the known ones."},
    {"test_c2", "Expectations about collectives name collectives."},
    {"test_c3", "A repetition count is not negative."},
    {"test_c4", "run gives one value for each parameter."},
    {"test_c5", "A name that a test uses has been bound earlier, or is a value of the program."},
});

}  // namespace

std::span<const TextConstraint> text_constraints() { return kConstraints; }

}  // namespace hostir::text
