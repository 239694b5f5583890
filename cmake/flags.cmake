# Compiler flags that every target shares: the interface target `rl_common`. Nothing here depends
# on the instruction set; only cmake/kernels.cmake gives -m flags.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")  # the dev preset

add_library(rl_common INTERFACE)
target_include_directories(rl_common INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}
                           ${CMAKE_SOURCE_DIR}/include)
# Thread-local state (grad mode, mode stack) is a few words, so the fast TLS model is safe.
target_compile_options(rl_common INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wno-init-list-lifetime
  -fvisibility-inlines-hidden -fno-semantic-interposition -fno-plt -ftls-model=initial-exec
  -fno-math-errno -ffp-contract=off
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}/=)
target_link_options(rl_common INTERFACE -Wl,-Bsymbolic-functions -Wl,-z,now -Wl,--as-needed)
target_link_libraries(rl_common INTERFACE OpenMP::OpenMP_CXX)
if(RL_WERROR)
  target_compile_options(rl_common INTERFACE -Werror)
endif()

if(RL_SANITIZE)
  target_compile_options(rl_common INTERFACE -fsanitize=${RL_SANITIZE} -fno-omit-frame-pointer -g1
                         -DRL_SANITIZE=1)
  target_link_options(rl_common INTERFACE -fsanitize=${RL_SANITIZE})
  # Checks dominate the time of a run, so the code is hardly optimised and compiles in half the
  # time. UBSAN_OPTIONS says whether a report ends the process.
  set(CMAKE_CXX_FLAGS_RELEASE "-O0")
  target_compile_options(rl_common INTERFACE -fno-sanitize=vptr)
endif()

find_program(RL_LLD ld.lld)
if(RL_LLD)
  target_link_options(rl_common INTERFACE -fuse-ld=lld)
endif()
find_program(RL_CCACHE ccache)
if(RL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # the same sources in another folder hit the same cache entries
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${RL_CCACHE})
endif()
