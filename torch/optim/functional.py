"""The steps of the optimizers as functions over lists of tensors."""
from ._adafactor import adafactor
from ._functional import (adadelta, adagrad, adam, adamax, adamw, asgd, nadam, radam, rmsprop,
                          rprop, sgd, sparse_adam)
from ._muon import muon

__all__ = ["adadelta", "adafactor", "adagrad", "adam", "adamax", "adamw", "asgd", "muon",
           "nadam", "radam", "rmsprop", "rprop", "sgd", "sparse_adam"]
