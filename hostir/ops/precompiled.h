// What most files include, for builds with HOSTIR_PCH=ON. The dev build has it off, so that a file
// that forgets an include is found there.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ops/record.h"
