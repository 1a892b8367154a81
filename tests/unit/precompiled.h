// Headers that most tests include, for builds with HOSTIR_PCH=ON.
#pragma once

#include <gtest/gtest.h>

#include "hostir/ops/precompiled.h"
