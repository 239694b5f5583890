# Writes torch/_build_info.py: what torch.__config__.show() and torch.version say about this build.
set(RL_GIT_VERSION "unknown")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} rev-parse HEAD WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                  OUTPUT_VARIABLE head RESULT_VARIABLE failed ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed)
    set(RL_GIT_VERSION ${head})
  endif()
endif()

string(TOLOWER "${CMAKE_BUILD_TYPE}" build_type)
string(REPLACE ";" " " isa_text "${RL_BUILT_ISAS}")
if(RL_IN_TREE)
  set(build_info ${CMAKE_SOURCE_DIR}/torch/_build_info.py)
else()
  set(build_info ${CMAKE_BINARY_DIR}/_build_info.py)
  install(FILES ${build_info} DESTINATION torch)
endif()
file(CONFIGURE OUTPUT ${build_info} @ONLY CONTENT
"\"\"\"Written by the build: what it was made of.\"\"\"

git_version = \"@RL_GIT_VERSION@\"
debug = False
compiler = \"@CMAKE_CXX_COMPILER_ID@ @CMAKE_CXX_COMPILER_VERSION@\"
cxx_flags = \"@CMAKE_CXX_FLAGS@ @CMAKE_CXX_FLAGS_RELEASE@ -std=c++20 -fopenmp\"
build_type = \"@build_type@\"
instruction_sets = \"@isa_text@\"
onednn = \"@RL_DNNL_VERSION@\"
openblas = \"@RL_OPENBLAS_VERSION@\"
sanitizer = \"@RL_SANITIZE@\"
")
