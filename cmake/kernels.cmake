# Compiles src/kernels/cpu/*.cpp and the generated kernels once per x86-64 level, as object
# libraries, and writes gen/isa_config.h with RL_HAVE_V2/V3/V4 for the run-time choice.
# These are the only files that get -m flags (see tools/check_isa.py for what that demands).
if(RL_ISAS STREQUAL "host")
  file(READ /proc/cpuinfo cpuinfo)
  if(cpuinfo MATCHES "avx512f" AND cpuinfo MATCHES "avx512bw" AND cpuinfo MATCHES "avx512dq"
     AND cpuinfo MATCHES "avx512vl" AND cpuinfo MATCHES "avx512cd")
    set(isas v4)
  elseif(cpuinfo MATCHES "avx2" AND cpuinfo MATCHES "fma" AND cpuinfo MATCHES "f16c")
    set(isas v3)
  else()
    set(isas v2)
  endif()
else()
  set(isas ${RL_ISAS})
endif()
set(RL_BUILT_ISAS ${isas})
message(STATUS "Kernels for x86-64 levels: ${isas}")

set(config "// Written by CMake: the x86-64 levels that this build has kernels for.\n#pragma once\n")
foreach(isa v2 v3 v4)
  string(TOUPPER ${isa} upper)
  if(isa IN_LIST isas)
    string(APPEND config "#define RL_HAVE_${upper} 1\n")
  else()
    string(APPEND config "#define RL_HAVE_${upper} 0\n")
  endif()
endforeach()
file(CONFIGURE OUTPUT ${RL_GEN_DIR}/isa_config.h CONTENT "${config}" @ONLY)

file(GLOB kernel_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/kernels/cpu/*.cpp)
set(RL_KERNEL_OBJECTS "")
set(RL_KERNEL_TARGETS "")

set(level -O3)
if(RL_SANITIZE)
  set(level -O1)
endif()
function(add_kernels isa)
  set(sources ${kernel_sources} ${RL_GEN_KERNELS})
  if(NOT sources)
    return()
  endif()
  set(target kernels_${isa})
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE rl_common)
  # AVX-512 code is compiled for whole 512-bit registers: Zen 4 and later run them without a
  # frequency penalty, and the vector types in vec.h are that wide.
  target_compile_options(${target} PRIVATE -march=x86-64-${isa} ${level} -fno-trapping-math
    -Wno-psabi $<$<STREQUAL:${isa},v4>:-mprefer-vector-width=512>)
  target_compile_definitions(${target} PRIVATE RL_ISA=${isa})
  add_dependencies(${target} rl_codegen)
  set(RL_KERNEL_OBJECTS ${RL_KERNEL_OBJECTS} $<TARGET_OBJECTS:${target}> PARENT_SCOPE)
  set(RL_KERNEL_TARGETS ${RL_KERNEL_TARGETS} ${target} PARENT_SCOPE)
endfunction()

foreach(isa IN LISTS isas)
  add_kernels(${isa})
endforeach()
