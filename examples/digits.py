"""Trains a small convolutional network on scikit-learn's handwritten digits (1 797 real scans).

It trains for a few epochs, saves a checkpoint, resumes from it as a new process would, prints the
accuracy on digits it has not seen, and writes two pictures. Run it with `./dev demo`.
"""
import argparse
import os
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    """Two convolutions and two linear layers for 8x8 images."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 64, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(64)
        self.drop = nn.Dropout(0.25)
        self.fc1 = nn.Linear(64 * 2 * 2, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        x = self.drop(torch.flatten(x, 1))
        return self.fc2(F.relu(self.fc1(x)))


def load_digits(seed=0):
    """The images as (N, 1, 8, 8) in [0, 1], split into 80 % training and 20 % test."""
    from sklearn.datasets import load_digits as load

    data = load()
    images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(data.target, dtype=torch.int64)
    order = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))
    images, labels = images[order], labels[order]
    cut = len(images) * 4 // 5
    return TensorDataset(images[:cut], labels[:cut]), TensorDataset(images[cut:], labels[cut:])


def progress(epoch, epochs, step, steps, loss):
    """One line that rewrites itself on a terminal, one line per epoch elsewhere."""
    done = step * 24 // steps
    end = "\n" if step == steps else "\r"
    if sys.stdout.isatty() or step == steps:
        bar = "#" * done + "." * (24 - done)
        print(f"epoch {epoch}/{epochs} [{bar}] {step}/{steps} loss {loss:.4f}", end=end, flush=True)


def train(model, optimizer, loader, first, last, epochs, losses):
    """Epochs `first` to `last` of `epochs`; appends the loss of each step to `losses`."""
    model.train()
    for epoch in range(first, last + 1):
        for step, (images, labels) in enumerate(loader, 1):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            progress(epoch, epochs, step, len(loader), loss.item())


@torch.no_grad()
def evaluate(model, dataset):
    """Accuracy, and the predictions for the first images."""
    model.eval()
    right = 0
    predictions = []
    for images, labels in DataLoader(dataset, batch_size=256):
        guess = model(images).argmax(dim=1)
        right += (guess == labels).sum().item()
        predictions += guess.tolist()
    return right / len(dataset), predictions


def make(lr):
    model = Net()
    return model, torch.optim.Adam(model.parameters(), lr=lr)


def save_checkpoint(path, model, optimizer, epoch, losses):
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch,
                "losses": losses}, path)


def resume(path, lr):
    """A fresh model and optimizer, brought to the state of the checkpoint."""
    checkpoint = torch.load(path)
    model, optimizer = make(lr)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    return model, optimizer, checkpoint["epoch"], checkpoint["losses"]


def draw(out, dataset, predictions, losses):
    """predictions.png and loss.png in the folder `out`."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(3, 8, figsize=(10, 4.4))
    for axis, (image, label), guess in zip(axes.flat, dataset, predictions):
        axis.imshow(image[0].tolist(), cmap="gray_r")
        colour = "black" if guess == label.item() else "red"
        axis.set_title(f"{guess} (is {label.item()})", fontsize=9, color=colour)
        axis.axis("off")
    figure.suptitle("Predictions on test digits")
    figure.tight_layout()
    figure.savefig(os.path.join(out, "predictions.png"), dpi=110)

    figure, axis = plt.subplots(figsize=(7, 4))
    axis.plot(losses, color="lightgray", label="each step")
    smooth = [sum(losses[max(0, i - 19):i + 1]) / min(i + 1, 20) for i in range(len(losses))]
    axis.plot(smooth, color="tab:orange", label="mean of 20 steps")
    axis.set(xlabel="step", ylabel="cross entropy", yscale="log", title="Training loss")
    axis.legend()
    figure.savefig(os.path.join(out, "loss.png"), dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--out", default="demo-output")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    checkpoint = os.path.join(args.out, "digits.pt")

    torch.manual_seed(0)
    train_set, test_set = load_digits()
    loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True)
    sizes = f"{len(train_set)} digits to learn from, {len(test_set)} to test"
    print(f"torch {torch.__version__}: {sizes}")
    start = time.perf_counter()
    model, optimizer = make(args.lr)
    losses = []
    half = args.epochs // 2
    train(model, optimizer, loader, 1, half, args.epochs, losses)
    print(f"accuracy after {half} epochs: {evaluate(model, test_set)[0]:.4f}")
    save_checkpoint(checkpoint, model, optimizer, half, losses)
    print(f"saved {checkpoint}; resuming from it")
    model, optimizer, epoch, losses = resume(checkpoint, args.lr)
    train(model, optimizer, loader, epoch + 1, args.epochs, args.epochs, losses)
    save_checkpoint(checkpoint, model, optimizer, args.epochs, losses)
    accuracy, predictions = evaluate(model, test_set)
    print(f"trained in {time.perf_counter() - start:.1f} s")
    draw(args.out, test_set, predictions, losses)
    folder = os.path.abspath(args.out)
    print(f"test accuracy: {accuracy:.4f}")
    for name in ("predictions.png", "loss.png", "digits.pt"):
        print(f"  {os.path.join(folder, name)}")
    if accuracy < 0.97:
        sys.exit("the network learned less than it should (0.97)")


if __name__ == "__main__":
    main()
