#include "hostir/cli/command_line.h"

int main(int argc, char** argv) { return hostir::cli::run_command_line(argc, argv); }
