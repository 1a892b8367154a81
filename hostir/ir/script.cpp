#include "hostir/ir/script.h"

#include "hostir/support/same_number.h"

namespace hostir {

bool operator==(const ValueSpec& x, const ValueSpec& y) {
  return x.kind == y.kind && x.text == y.text && x.type == y.type && x.seed == y.seed &&
         same_number(x.a, y.a) && same_number(x.b, y.b) && x.span == y.span;
}

}  // namespace hostir
