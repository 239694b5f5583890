# Runs codegen/main.py over ops/*.yaml into <build>/gen. The generator lists its own outputs; the
# list is read at configure time and sorted by name into the targets that compile them:
#   kernels_*.cpp, cpu_*.cpp  once per instruction set     python_*.cpp  the Python extension
#   other *.cpp               the core library             py/**         files of the package
set(RL_GEN_DIR ${CMAKE_BINARY_DIR}/gen)
file(MAKE_DIRECTORY ${RL_GEN_DIR})
file(GLOB RL_OPS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/ops/*.yaml)
file(GLOB RL_CODEGEN CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/codegen/*.py)
set(RL_GEN_CORE "")
set(RL_GEN_KERNELS "")
set(RL_GEN_PYTHON "")
set(RL_GEN_PACKAGE "")

if(NOT EXISTS ${CMAKE_SOURCE_DIR}/codegen/main.py OR NOT RL_OPS)
  add_custom_target(rl_codegen)
  return()
endif()

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${RL_CODEGEN})
set(codegen ${Python_EXECUTABLE} ${CMAKE_SOURCE_DIR}/codegen/main.py)
execute_process(COMMAND ${codegen} --out ${RL_GEN_DIR} --list-outputs ${RL_OPS}
                OUTPUT_VARIABLE outputs RESULT_VARIABLE failed ERROR_VARIABLE message
                OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed)
  message(FATAL_ERROR "the generator could not list its outputs:\n${message}")
endif()
string(REPLACE "\n" ";" outputs "${outputs}")
set(paths "")
foreach(name IN LISTS outputs)
  if(NOT IS_ABSOLUTE ${name})
    set(name ${RL_GEN_DIR}/${name})
  endif()
  list(APPEND paths ${name})
  get_filename_component(base ${name} NAME)
  if(name MATCHES "^${RL_GEN_DIR}/py/")
    list(APPEND RL_GEN_PACKAGE ${name})
  elseif(base MATCHES "^python_.*\\.cpp$")
    list(APPEND RL_GEN_PYTHON ${name})
  elseif(base MATCHES "^(kernels|cpu)_.*\\.cpp$")
    list(APPEND RL_GEN_KERNELS ${name})
  elseif(base MATCHES "\\.cpp$")
    list(APPEND RL_GEN_CORE ${name})
  endif()
endforeach()

# Files are written only when they change, and ninja looks at them again after the command
# (byproducts are `restat`), so an edit of one entry rebuilds only what its text changes.
add_custom_command(
  OUTPUT ${RL_GEN_DIR}/codegen.stamp
  BYPRODUCTS ${paths}
  COMMAND ${codegen} --out ${RL_GEN_DIR} ${RL_OPS}
  COMMAND ${CMAKE_COMMAND} -E touch ${RL_GEN_DIR}/codegen.stamp
  DEPENDS ${RL_OPS} ${RL_CODEGEN} ${CMAKE_SOURCE_DIR}/src/ops/backward.h
  COMMENT "Generating code from ops/*.yaml" VERBATIM)
add_custom_target(rl_codegen DEPENDS ${RL_GEN_DIR}/codegen.stamp)
set_source_files_properties(${paths} PROPERTIES GENERATED ON)

if(RL_GEN_PACKAGE)
  install(DIRECTORY ${RL_GEN_DIR}/py/ DESTINATION .)
  if(RL_IN_TREE)
    add_custom_target(rl_package ALL
      COMMAND ${CMAKE_COMMAND} -E copy_directory_if_different ${RL_GEN_DIR}/py ${CMAKE_SOURCE_DIR}
      DEPENDS ${RL_GEN_DIR}/codegen.stamp VERBATIM)
  endif()
endif()
